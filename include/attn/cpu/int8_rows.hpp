#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "attn/core/types.hpp"

// Activations as int8, the other side of products with int8 weights (int8_weights.hpp).

namespace attn::cpu {

/// Numbers as int8: x = scale * q, |q| <= 127, with `offset` added to each q. The largest becomes 127; what lies between two
/// becomes the nearer one, the even one of two equally near. Returns the scale: 0 where nothing is larger than 1e-30, NaN
/// where something is not finite.
inline float quantise(const float* x, Index count, int offset, std::int8_t* q) {
  std::int32_t most_bits = 0;  // those of |x| are in its order, and NaN's above those of infinity
  for (Index i = 0; i < count; ++i) most_bits = std::max(most_bits, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  const float most = std::bit_cast<float>(most_bits);
  const bool finite = most_bits < 0x7f800000;
  const float factor = finite && most > 1e-30F ? 127 / most : 0;
  // Added to a small number, 1.5 * 2^23 leaves it rounded in the last bits.
  constexpr float kShift = 0x1.8p23F;
  const std::int32_t shift = std::bit_cast<std::int32_t>(kShift) - offset;
  for (Index i = 0; i < count; ++i) {
    const float shifted = (finite ? x[i] * factor : 0.0F) + kShift;
    q[i] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(shifted) - shift);
  }
  return finite ? (factor > 0 ? most / 127 : 0) : std::numeric_limits<float>::quiet_NaN();
}

/// Rows of activations as int8, each with a scale of its own, filled up to what instructions take. It is a view of memory
/// for bytes(rows, depth).
template <class Lanes>
class Int8Rows {
 public:
  static constexpr Index filled_up(Index depth) { return (depth + Lanes::kDepth - 1) / Lanes::kDepth * Lanes::kDepth; }
  /// Bytes between rows. An odd number of cache lines where tiles are loaded: the rows of one lie in different sets.
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
