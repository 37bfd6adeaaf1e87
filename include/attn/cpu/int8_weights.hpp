#pragma once
#include <Eigen/Core>
#include <bit>
#include <limits>
#include <type_traits>

#include "attn/core/matrix.hpp"
#include "attn/core/memory.hpp"
#include "attn/cpu/int8_lanes.hpp"

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
  static constexpr Index fours(Index depth) { return (depth + Lanes::kDepth - 1) / Lanes::kDepth * Lanes::kDepth / 4; }
  static constexpr Index bytes(Index rows, Index depth) { return rows * (4 * fours(depth) + Index{sizeof(float)}); }

  Int8Rows(void* memory, Index rows, Index depth)
      : stride_(4 * fours(depth)),
        values_(static_cast<std::int8_t*>(memory)),
        scales_(reinterpret_cast<float*>(values_ + rows * stride_)) {}

  void quantise_row(Index i, const float* x, Index depth) const {
    std::int8_t* q = values_ + i * stride_;
    scales_[i] = quantise(x, depth, Lanes::kOffset, q);
    std::fill(q + depth, q + stride_, std::int8_t{0});
  }
  const std::int8_t* row(Index i) const { return values_ + i * stride_; }
  float scale(Index i) const { return scales_[i]; }
  Index stride() const { return stride_; }

 private:
  Index stride_;
  std::int8_t* values_;
  float* scales_;
};

/// Weights as int8, each row, which makes one output, with a scale of its own. They lie in panels of as many outputs as a
/// tile has, the last filled up with zeros; a panel holds, for each 4 of the depth, 4 weights of each output.
template <class Lanes = Int8Lanes>
class Int8Weights {
 public:
  static constexpr Index kColumns = Lanes::kPackets * Lanes::kLanes;

  explicit Int8Weights(Matrix<const float> weights)
      : depth_(weights.cols),
        fours_(Int8Rows<Lanes>::fours(weights.cols)),
        panels_((weights.rows + kColumns - 1) / kColumns),
        values_(panels_ * kColumns * fours_ * 4, "int8 weights"),
        scales_(panels_ * kColumns, "scales of int8 weights"),
        begins_(panels_ * kColumns, "sums of int8 weights") {
    std::fill_n(values_.data(), values_.size(), std::int8_t{0});
    std::fill_n(scales_.data(), scales_.size(), 0.0F);
    std::fill_n(begins_.data(), begins_.size(), 0);
    const Buffer<std::int8_t, HostMemory> line(4 * fours_, "int8 weights");
    std::fill_n(line.data(), line.size(), std::int8_t{0});
    for (Index j = 0; j < weights.rows; ++j) {
      scales_.data()[j] = quantise(weights.row(j), depth_, 0, line.data());
      std::int32_t sum = 0;
      for (Index k = 0; k < depth_; ++k) sum += line.data()[k];
      begins_.data()[j] = -Lanes::kOffset * sum;
      std::int8_t* to = values_.data() + (j / kColumns * fours_ * kColumns + j % kColumns) * 4;
      for (Index k = 0; k < fours_; ++k) std::copy_n(line.data() + 4 * k, 4, to + k * kColumns * 4);
    }
  }

  Index bytes() const { return values_.size() + 8 * scales_.size(); }

  /// y = x Wᵀ + bias, or its ReLU, for outputs `left` to `left + y.cols`, where left is a multiple of kColumns: the columns of
  /// y, from rows `top` on of x. bias: of all outputs, or none.
  void multiply(const Int8Rows<Lanes>& x, Index top, Index left, const float* bias, bool relu, Matrix<float> y) const {
#ifdef ATTN_AMX
    constexpr Index kFew = 4;  // rows that tiles take longer for
    if constexpr (std::is_same_v<Lanes, Int8Amx>)
      if (y.rows > kFew && may_use_amx()) return multiply_tiles(x, top, left, bias, relu, y);
#endif
    constexpr Index kTogether = 8 * Lanes::kRows;  // rows whose activations stay near while panels go by
    for (Index i = 0; i < y.rows; i += kTogether) {
      const Index block = std::min(kTogether, y.rows - i);
      for (Index j = 0; j < y.cols; j += kColumns) {
        const auto to = y.row_range(i, block).columns(j, std::min(kColumns, y.cols - j));
        for (Index r = 0, tiles = (block + Lanes::kRows - 1) / Lanes::kRows; tiles > 0; --tiles) {
          const Index rows = (block - r + tiles - 1) / tiles;  // of like height
          pick<Lanes::kRows>(rows, x, top + i + r, left + j, bias, relu, to.row_range(r, rows));
          r += rows;
        }
      }
    }
  }

 private:
  template <int R>
  void pick(Index rows, const Int8Rows<Lanes>& x, Index i, Index j, const float* bias, bool relu, Matrix<float> y) const {
    if constexpr (R > 1)
      if (rows < R) return pick<R - 1>(rows, x, i, j, bias, relu, y);
    tile<R>(x, i, j, bias, relu, y);
  }

  /// R rows and one panel of outputs, whose sums stay in registers.
  template <int R>
  void tile(const Int8Rows<Lanes>& x, Index i, Index j, const float* bias, bool relu, Matrix<float> y) const {
    constexpr int P = Lanes::kPackets;
    typename Lanes::Sums sums[R][P];
    const std::int8_t* left[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      left[r] = x.row(i + r);
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) sums[r][p] = Lanes::load(begins_.data() + j + p * Lanes::kLanes);
    }
    const std::int8_t* panel = values_.data() + j * fours_ * 4;
    for (Index k = 0; k < fours_; ++k, panel += 4 * kColumns) {
      typename Lanes::Weights w[P];
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) w[p] = Lanes::weights(panel + p * 4 * Lanes::kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const auto a = Lanes::activations(left[r] + 4 * k);
#pragma GCC unroll 4
        for (int p = 0; p < P; ++p) Lanes::add_products(sums[r][p], w[p], a);
      }
    }
    std::int32_t numbers[R * kColumns];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) Lanes::store(numbers + r * kColumns + p * Lanes::kLanes, sums[r][p]);
    for (int r = 0; r < R; ++r) finish(numbers + r * kColumns, x.scale(i + r), j, bias, relu, y.row(r), y.cols);
  }

#ifdef ATTN_AMX
  /// The same in tiles of 16 rows and 16 outputs, two by two.
  void multiply_tiles(const Int8Rows<Lanes>& x, Index top, Index left, const float* bias, bool relu,
                      Matrix<float> y) const {
    constexpr Index kTogether = 256;  // rows whose activations stay in the second cache while panels go by
    AmxTiles tiles;
    alignas(64) std::int32_t numbers[32 * kColumns];
    for (Index i = 0; i < y.rows; i += kTogether) {
      const Index bottom = std::min(i + kTogether, y.rows);
      for (Index j = 0; j < y.cols; j += kColumns) {
        const Index cols = std::min(kColumns, y.cols - j);
        const std::int8_t* panel = values_.data() + (left + j) * fours_ * 4;
        for (Index r = i; r < bottom; r += 32) {
          const Index rows = std::min<Index>(32, bottom - r), upper = std::min<Index>(16, rows);
          tiles.shape(upper, rows - upper);
          for (Index p = 0; p < cols; p += 32)
            amx_products(x.row(top + r), x.stride(), panel + 4 * p, 4 * kColumns, 4 * fours_, begins_.data() + left + j + p,
                         numbers + p, kColumns, upper, rows - upper);
          for (Index k = 0; k < rows; ++k)
            finish(numbers + k * kColumns, x.scale(top + r + k), left + j, bias, relu, y.row(r + k) + j, cols);
        }
      }
    }
  }
#endif

  /// One row of a panel's sums, as float: the same instructions for all its outputs, whether they are there or not.
  void finish(const std::int32_t* sums, float scale, Index j, const float* bias, bool relu, float* y, Index cols) const {
    using Line = Eigen::Array<float, kColumns, 1>;
    Line added = Line::Zero();
    if (bias != nullptr && cols == kColumns) added = Eigen::Map<const Line>(bias + j);
    if (bias != nullptr && cols < kColumns) std::copy_n(bias + j, cols, added.data());
    const auto numbers = Eigen::Map<const Eigen::Array<std::int32_t, kColumns, 1>>(sums).template cast<float>();
    Line line = numbers * (Eigen::Map<const Line>(scales_.data() + j) * scale) + added;
    if (relu) line = (line < 0.0F).select(0.0F, line);
    if (cols == kColumns)
      Eigen::Map<Line>(y, kColumns) = line;
    else
      std::copy_n(line.data(), cols, y);
  }

  Index depth_, fours_, panels_;
  Buffer<std::int8_t, HostMemory> values_;
  Buffer<float, HostMemory> scales_;
  Buffer<std::int32_t, HostMemory> begins_;
};

}  // namespace attn::cpu
