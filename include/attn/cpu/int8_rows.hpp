#pragma once
#include <bit>

#include "attn/core/types.hpp"

// Int8 activations, the left side of products with int8 weights (int8_weights.hpp).

namespace attn::cpu {

/// Quantises numbers to int8: x = scale * q, |q| <= 127, with `offset` added to each q. The largest |x| becomes 127. Rounds
/// to nearest, ties to even. Returns the scale: 0 if no |x| exceeds 1e-30, NaN if a number is not finite.
inline float quantise(const float* x, Index count, int offset, std::int8_t* q) {
  std::int32_t most_bits = 0;  // bits of |x| are ordered like |x|, and NaN's are above infinity's
  for (Index i = 0; i < count; ++i) most_bits = std::max(most_bits, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  const float most = std::bit_cast<float>(most_bits);
  const bool finite = most_bits < 0x7f800000;
  const float factor = finite && most > 1e-30F ? 127 / most : 0;
  // Adding 1.5 * 2^23 to a small number leaves it rounded in the low bits.
  constexpr float kShift = 0x1.8p23F;
  const std::int32_t shift = std::bit_cast<std::int32_t>(kShift) - offset;
  for (Index i = 0; i < count; ++i) {
    const float shifted = (finite ? x[i] * factor : 0.0F) + kShift;
    q[i] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(shifted) - shift);
  }
  return finite ? (factor > 0 ? most / 127 : 0) : std::numeric_limits<float>::quiet_NaN();
}

/// Rows of int8 activations, each with its own scale, padded to the instructions' depth. A view of bytes(rows, depth) bytes
/// of memory.
template <class Lanes>
class Int8Rows {
 public:
  static constexpr Index filled_up(Index depth) { return (depth + Lanes::kDepth - 1) / Lanes::kDepth * Lanes::kDepth; }
  /// Bytes between rows. For AMX tiles, an odd number of cache lines: the rows of a tile then lie in different cache sets.
  static constexpr Index stride(Index depth) {
    return Lanes::kDepth == 64 ? (filled_up(depth) / 64 | 1) * 64 : filled_up(depth);
  }
  static constexpr Index bytes(Index rows, Index depth) { return rows * (stride(depth) + Index{sizeof(float)}); }

  Int8Rows(void* memory, Index rows, Index depth)
      : stride_(stride(depth)),
        values_(static_cast<std::int8_t*>(memory)),
        scales_(reinterpret_cast<float*>(values_ + rows * stride_)) {}

  void quantise_row(Index i, const float* x, Index depth) const {
    std::int8_t* q = values_ + i * stride_;
    scales_[i] = quantise(x, depth, Lanes::kOffset, q);
    std::fill(q + depth, q + stride_, std::int8_t{0});
  }
  const std::int8_t* row(Index i) const { return values_ + i * stride_; }
  const float* scales() const { return scales_; }
  Index stride() const { return stride_; }

 private:
  Index stride_;
  std::int8_t* values_;
  float* scales_;
};

}  // namespace attn::cpu
