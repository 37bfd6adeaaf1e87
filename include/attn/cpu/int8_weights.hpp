#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <type_traits>

#include "attn/core/matrix.hpp"
#include "attn/core/memory.hpp"
#include "attn/cpu/int8_lanes.hpp"
#include "attn/cpu/int8_rows.hpp"

namespace attn::cpu {

/// Weights as int8, each row, which makes one output, with a scale of its own. They lie in strips of some outputs, the last
/// filled up with zeros; a strip holds, for each group of the depth, a group of weights of each output. Panels, as many outputs
/// as a tile has, are one strip or more.
template <class Lanes = Int8Lanes>
class Int8Weights {
 public:
  static constexpr Index kColumns = Lanes::kPackets * Lanes::kLanes;
  static constexpr Index kStrip = Lanes::kDepth == 64 ? 32 : kColumns;

  explicit Int8Weights(Matrix<const float> weights)
      : depth_(weights.cols),
        filled_up_(Int8Rows<Lanes>::filled_up(weights.cols)),
        panels_((weights.rows + kColumns - 1) / kColumns),
        values_(panels_ * kColumns * filled_up_, "int8 weights"),
        scales_(panels_ * kColumns, "scales of int8 weights"),
        begins_(panels_ * kColumns, "sums of int8 weights") {
    std::fill_n(values_.data(), values_.size(), std::int8_t{0});
    std::fill_n(scales_.data(), scales_.size(), 0.0F);
    std::fill_n(begins_.data(), begins_.size(), 0);
    const Buffer<std::int8_t, HostMemory> line(filled_up_, "int8 weights");
    std::fill_n(line.data(), line.size(), std::int8_t{0});
    for (Index j = 0; j < weights.rows; ++j) {
      scales_.data()[j] = quantise(weights.row(j), depth_, 0, line.data());
      std::int32_t sum = 0;
      for (Index k = 0; k < depth_; ++k) sum += line.data()[k];
      begins_.data()[j] = -Lanes::kOffset * sum;
      std::int8_t* to = values_.data() + strip(j) + j % kStrip * kGroup;
      for (Index k = 0; k < filled_up_; k += kGroup) std::copy_n(line.data() + k, kGroup, to + k * kStrip);
    }
  }

  Index bytes() const { return values_.size() + 8 * scales_.size(); }

  /// y = x Wᵀ + bias, or its ReLU, for outputs `left` to `left + y.cols`, where left is a multiple of kColumns: the columns of
  /// y, from rows `top` on of x. bias: of all outputs, or none.
  void multiply(const Int8Rows<Lanes>& x, Index top, Index left, const float* bias, bool relu, Matrix<float> y) const {
    products(x, top, y.rows, left, y.cols, [&](const Sums& sums) {
      const float* scales = x.scales() + sums.row;
      for_each_line(sums, bias, left + y.cols, -1, [=](const Line& line) {
        float* to = y.row(sums.row - top) + (line.column - left);
        for (Index i = 0; i < sums.rows; ++i, to += y.stride) {
          using namespace Eigen::internal;
          auto numbers = line(i, scales[i]);
          if (relu)
            for (Packet& some : numbers.of) some = pselect(pcmp_lt(some, pset1<Packet>(0)), pset1<Packet>(0), some);
          line.store(numbers, to);
        }
      });
    });
  }

  /// The largest output of a row so far, and the outputs around it. Of equals it is the first; NaN is none.
  struct Largest {
    static constexpr Index kAround = std::min<Index>(kStrip, 2 * Eigen::internal::packet_traits<float>::size);

    float value = -std::numeric_limits<float>::infinity();
    Index first = -1;  // of those around it; -1: nothing so far
    float around[kAround];

    Index at() const { return first < 0 ? first : first + (std::find(around, around + kAround, value) - around); }
  };
  /// Finds them among outputs `left` to `left + cols` of x Wᵀ + bias, as multiply computes it, without output `except`, for
  /// rows `top` to `top + rows` of x; left is a multiple of kColumns.
  void find_largest(const Int8Rows<Lanes>& x, Index top, Index rows, Index left, Index cols, const float* bias,
                    Index except, Largest* largest) const {
    products(x, top, rows, left, cols, [&](const Sums& sums) {
      const float* scales = x.scales() + sums.row;
      for_each_line(sums, bias, left + cols, except, [=](const Line& line) {
        Largest* best = largest + (sums.row - top);
        for (Index i = 0; i < sums.rows; ++i, ++best) {
          using namespace Eigen::internal;
          const auto numbers = line(i, scales[i]);
          const Packet before = pset1<Packet>(best->value);
          Packet most = before;
          for (const Packet& some : numbers.of) most = pselect(pcmp_lt(most, some), some, most);
          if (!predux_any(pcmp_lt(before, most))) continue;
          best->value = predux_max(most);
          best->first = line.column;
          numbers.store(best->around);
        }
      });
    });
  }

 private:
  using Packet = typename Eigen::internal::packet_traits<float>::type;
  static constexpr Index kGroup = Lanes::kGroup;

  /// Products of some rows with some outputs, before scales and bias.
  struct Sums {
    const std::int32_t* of;
    Index stride;         // numbers between two rows
    Index row, rows;      // of x: the first, and how many
    Index column, width;  // outputs
  };

  /// Some packets of numbers.
  struct Packets {
    static constexpr Index kLanes = Eigen::internal::packet_traits<float>::size, kCount = Largest::kAround / kLanes;
    Packet of[kCount];

    static Packets load(const float* from) {
      Packets packets;
#pragma GCC unroll 2
      for (Index p = 0; p < kCount; ++p) packets.of[p] = Eigen::internal::ploadu<Packet>(from + p * kLanes);
      return packets;
    }
    void store(float* to) const {
#pragma GCC unroll 2
      for (Index p = 0; p < kCount; ++p) Eigen::internal::pstoreu(to + p * kLanes, of[p]);
    }
  };

  /// Some packets of outputs, whose scales and bias stay in registers while rows go by. They may be cut short; their numbers
  /// are computed by the same instructions.
  struct Line {
    static constexpr Index kOutputs = Largest::kAround;

    const std::int32_t* sums;
    Index stride, column, cols;
    Packets scales, bias;

    Packets operator()(Index i, float scale) const {
      using namespace Eigen::internal;
      using Integers = Eigen::Map<const Eigen::Array<std::int32_t, Packets::kLanes, 1>>;
      Packets numbers;
#pragma GCC unroll 2
      for (Index p = 0; p < Packets::kCount; ++p) {
        const auto whole = Integers(sums + i * stride + p * Packets::kLanes).template cast<float>().eval();
        numbers.of[p] = pmadd(ploadu<Packet>(whole.data()), pmul(scales.of[p], pset1<Packet>(scale)), bias.of[p]);
      }
      return numbers;
    }
    void store(const Packets& numbers, float* to) const {
      if (cols == kOutputs) return numbers.store(to);
      float some[kOutputs];
      numbers.store(some);
      std::copy_n(some, cols, to);
    }
  };

  /// work(line) for the outputs of some sums, up to `right`. Lanes of `except`, and those that no output is in, give -infinity.
  template <class Work>
  void for_each_line(const Sums& sums, const float* bias, Index right, Index except, const Work& work) const {
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    for (Index c = 0; c < sums.width && sums.column + c < right; c += Line::kOutputs) {
      const Index j = sums.column + c, cols = std::min(Line::kOutputs, right - j);
      Line line{sums.of + c, sums.stride, j, cols, Packets::load(scales_.data() + j), {}};
      const bool excepted = except >= j && except < j + cols;
      if (bias != nullptr && cols == Line::kOutputs && !excepted) {
        line.bias = Packets::load(bias + j);
      } else {
        float added[Line::kOutputs] = {};
        if (bias != nullptr) std::copy_n(bias + j, cols, added);
        std::fill(added + cols, added + Line::kOutputs, kNever);
        if (excepted) added[except - j] = kNever;
        line.bias = Packets::load(added);
      }
      work(line);
    }
  }

  /// take(sums) until each of `rows` rows of x, from `top` on, has met all outputs from `left` to `left + cols`.
  template <class Take>
  void products(const Int8Rows<Lanes>& x, Index top, Index rows, Index left, Index cols, const Take& take) const {
#ifdef ATTN_AMX
    constexpr Index kFew = 4;  // rows that tiles take longer for
    if constexpr (std::is_same_v<Lanes, Int8Amx>)
      if (rows > kFew && may_use_amx()) return tile_products(x, top, rows, left, cols, take);
#endif
    constexpr Index kTogether = 8 * Lanes::kRows;  // rows whose activations stay near while panels go by
    for (Index i = 0; i < rows; i += kTogether) {
      const Index block = std::min(kTogether, rows - i);
      for (Index j = 0; j < cols; j += kColumns)
        for (Index r = 0, tiles = (block + Lanes::kRows - 1) / Lanes::kRows; tiles > 0; --tiles) {
          const Index some = (block - r + tiles - 1) / tiles;  // of like height
          pick<Lanes::kRows>(some, x, top + i + r, left + j, take);
          r += some;
        }
    }
  }

  template <int R, class Take>
  void pick(Index rows, const Int8Rows<Lanes>& x, Index i, Index j, const Take& take) const {
    if constexpr (R > 1)
      if (rows < R) return pick<R - 1>(rows, x, i, j, take);
    tile<R>(x, i, j, take);
  }

  /// R rows and one panel of outputs, whose sums stay in registers. Where the last rows are fewer than instructions take, the
  /// last one comes again.
  template <int R, class Take>
  void tile(const Int8Rows<Lanes>& x, Index i, Index j, const Take& take) const {
    constexpr int P = Lanes::kPackets, H = Lanes::kHigh, G = (R + H - 1) / H;
    typename Lanes::Sums sums[G][P];
    const std::int8_t* rows[G * H];
#pragma GCC unroll 8
    for (int r = 0; r < G * H; ++r) rows[r] = x.row(i + std::min(r, R - 1));
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) sums[g][p] = Lanes::load(begins_.data() + j + p * Lanes::kLanes);
    const std::int8_t* panel = values_.data() + strip(j);
    for (Index k = 0; k < filled_up_; k += kGroup, panel += kGroup * kStrip) {
      typename Lanes::Weights w[P];
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p)
        w[p] = Lanes::weights(panel + strip(p * Lanes::kLanes) + p * Lanes::kLanes % kStrip * kGroup);
#pragma GCC unroll 8
      for (int g = 0; g < G; ++g) {
        const auto a = Lanes::activations(rows + g * H, k);
#pragma GCC unroll 8
        for (int p = 0; p < P; ++p) Lanes::add_products(sums[g][p], w[p], a);
      }
    }
    std::int32_t numbers[G * H * kColumns];
#pragma GCC unroll 8
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) Lanes::store(numbers + g * H * kColumns + p * Lanes::kLanes, kColumns, sums[g][p]);
    take(Sums{numbers, kColumns, i, R, j, kColumns});
  }

#ifdef ATTN_AMX
  /// The same in tiles of 16 rows and 16 outputs, two by two. All rows meet a strip before the next comes, and ask for that
  /// on the way.
  template <class Take>
  void tile_products(const Int8Rows<Lanes>& x, Index top, Index rows, Index left, Index cols, const Take& take) const {
    constexpr Index kTogether = 256;  // rows whose activations stay in the second cache while strips go by
    constexpr Index kHigh = 32;
    AmxTiles tiles;
    alignas(64) std::int32_t numbers[kHigh * kStrip];
    for (Index i = 0; i < rows; i += kTogether) {
      const Index bottom = std::min(i + kTogether, rows), groups = (bottom - i + kHigh - 1) / kHigh;
      for (Index j = left; j < left + cols; j += kStrip) {
        AmxAhead ahead{values_.data() + strip(j + kStrip), (kStrip + groups - 1) / groups};
        for (Index r = i; r < bottom; r += kHigh) {
          const Index count = std::min(kHigh, bottom - r), upper = std::min<Index>(16, count);
          tiles.shape(upper, count - upper);
          amx_products(x.row(top + r), x.stride(), values_.data() + strip(j), kGroup * kStrip, filled_up_,
                       begins_.data() + j, numbers, kStrip, upper, count - upper, ahead);
          take(Sums{numbers, kStrip, top + r, count, j, kStrip});
        }
      }
    }
  }
#endif

  /// Where the strip of an output begins.
  Index strip(Index output) const { return output / kStrip * kStrip * filled_up_; }

  Index depth_, filled_up_, panels_;
  Buffer<std::int8_t, HostMemory> values_;
  Buffer<float, HostMemory> scales_;
  Buffer<std::int32_t, HostMemory> begins_;
};

}  // namespace attn::cpu
