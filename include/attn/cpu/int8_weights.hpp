#pragma once
#include <Eigen/Core>

#include "attn/core/memory.hpp"
#include "attn/cpu/int8_lanes.hpp"
#include "attn/cpu/int8_rows.hpp"

namespace attn::cpu {

template <class Packet>
Packet load_integers(const std::int32_t* from) {
  using Integers = typename Eigen::internal::unpacket_traits<Packet>::integer_packet;
  return Eigen::internal::pcast<Integers, Packet>(Eigen::internal::ploadu<Integers>(from));
}

/// Int8 weights. Each row, which gives one output, has its own scale. They are packed in panels of one tile's outputs, the
/// last padded with zeros. For each group of the depth, a panel holds a group of weights of each output.
template <class Lanes = Int8Lanes>
class Int8Weights {
 public:
  static constexpr Index kColumns = Lanes::kPackets * Lanes::kLanes;

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
      std::int8_t* to = values_.data() + panel(j) + j % kColumns * kGroup;
      for (Index k = 0; k < filled_up_; k += kGroup) std::copy_n(line.data() + k, kGroup, to + k * kColumns);
    }
  }

  Index bytes() const { return values_.size() + 8 * scales_.size(); }

  /// y = x Wᵀ + bias, or its ReLU, for rows of x from `top` on and outputs from `left` on. left is a multiple of kColumns.
  /// bias: of all outputs, or null.
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

  /// The largest output of a row so far, and the outputs around it. Ties go to the first; NaN is ignored.
  struct Largest {
    static constexpr Index kAround = std::min<Index>(kColumns, 2 * Eigen::internal::packet_traits<float>::size);

    float value = -std::numeric_limits<float>::infinity();
    Index first = -1;  // of those around it; -1: none so far
    float around[kAround];

    Index at() const { return first < 0 ? first : first + (std::find(around, around + kAround, value) - around); }
  };
  /// Updates `largest` with outputs `left` to `left + cols - 1` of x Wᵀ + bias, computed as in multiply, except output
  /// `except`. Takes rows `top` to `top + rows - 1` of x. left is a multiple of kColumns.
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

  /// Products of a block of rows and outputs, before scales and bias.
  struct Sums {
    const std::int32_t* of;
    Index stride;         // numbers between two rows
    Index row, rows;      // of x: first, count
    Index column, width;  // outputs
  };

  /// kCount packets of numbers.
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

  /// A line of kOutputs outputs. Their scales and bias stay in registers for all rows. A partial line uses the same
  /// instructions.
  struct Line {
    static constexpr Index kOutputs = Largest::kAround;

    const std::int32_t* sums;
    Index stride, column, cols;
    Packets scales, bias;

    Packets operator()(Index i, float scale) const {
      using namespace Eigen::internal;
      Packets numbers;
#pragma GCC unroll 2
      for (Index p = 0; p < Packets::kCount; ++p) {
        const Packet whole = load_integers<Packet>(sums + i * stride + p * Packets::kLanes);
        numbers.of[p] = pmadd(whole, pmul(scales.of[p], pset1<Packet>(scale)), bias.of[p]);
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

  /// work(line) for the outputs of some sums, up to `right`. Lanes of `except` and lanes without an output give -infinity.
  void for_each_line(const Sums& sums, const float* bias, Index right, Index except, const auto& work) const {
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

  /// Calls take(sums) for blocks that cover `rows` rows of x from `top` on, and `cols` outputs from `left` on.
  void products(const Int8Rows<Lanes>& x, Index top, Index rows, Index left, Index cols, const auto& take) const {
#ifdef ATTN_AMX
    constexpr Index kFew = 4;  // maximum rows for which tiles are slower
    if constexpr (std::is_same_v<Lanes, Int8Amx>)
      if (rows > kFew && may_use_amx()) return tile_products(x, top, rows, left, cols, take);
#endif
    constexpr Index kNear = 1 << 18;  // bytes of activations that stay in the L2 cache for all panels
    const Index together = std::max<Index>(kNear / x.stride(), Lanes::kRows);
    for (Index i = 0; i < rows; i += together) {
      const Index block = std::min(together, rows - i), tiles = (block + Lanes::kRows - 1) / Lanes::kRows;
      for (Index j = left; j < left + cols; j += kColumns)
        for (Index r = 0, t = 0; t < tiles; ++t) {
          const Index some = (block - r + tiles - t - 1) / (tiles - t);  // of similar height
          // The first two tiles prefetch the next panel, its even and its odd cache lines.
          pick<Lanes::kRows>(some, x, top + i + r, j, t < 2 ? kColumns * filled_up_ + 64 * t : 0, take);
          r += some;
        }
    }
  }

  template <int R, class Take>
  void pick(Index rows, const Int8Rows<Lanes>& x, Index i, Index j, Index ahead, const Take& take) const {
    if constexpr (R > 1)
      if (rows < R) return pick<R - 1>(rows, x, i, j, ahead, take);
    // If the instructions take more rows than remain, the last row is repeated.
    constexpr int kGroups = (R + Lanes::kHigh - 1) / Lanes::kHigh;
    const std::int8_t* ends[kGroups * Lanes::kHigh];
    for (int r = 0; r < kGroups * Lanes::kHigh; ++r) ends[r] = x.row(i + std::min(r, R - 1)) + filled_up_;
    alignas(64) std::int32_t numbers[kGroups * Lanes::kHigh * kColumns];
    tile<kGroups>(ends, filled_up_, values_.data() + panel(j), begins_.data() + j, ahead, numbers);
    take(Sums{numbers, kColumns, i, R, j, kColumns});
  }

  /// The products of rows that end at `ends` and one panel of outputs. Prefetches memory `ahead` bytes after the panel. Not
  /// inlined, so that its loop has all registers.
  template <int G>
  [[gnu::noinline]] static void tile(const std::int8_t* const* ends, Index depth, const std::int8_t* panel,
                                     const std::int32_t* begins, Index ahead, std::int32_t* numbers) {
    constexpr int P = Lanes::kPackets, H = Lanes::kHigh;
    const std::int8_t* rows[G * H];
#pragma GCC unroll 12
    for (int r = 0; r < G * H; ++r) rows[r] = ends[r];
    typename Lanes::Sums sums[G][P];
#pragma GCC unroll 12
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 12
      for (int p = 0; p < P; ++p) sums[g][p] = Lanes::load(begins + p * Lanes::kLanes);
    for (Index k = -depth; k < 0; k += kGroup, panel += kGroup * kColumns) {
      __builtin_prefetch(panel + ahead, 0, 2);
      typename Lanes::Weights w[P];
#pragma GCC unroll 12
      for (int p = 0; p < P; ++p) w[p] = Lanes::weights(panel + p * Lanes::kLanes * kGroup);
#pragma GCC unroll 12
      for (int g = 0; g < G; ++g) {
        const auto a = Lanes::activations(rows + g * H, k);
#pragma GCC unroll 12
        for (int p = 0; p < P; ++p) Lanes::add_products(sums[g][p], w[p], a);
      }
    }
#pragma GCC unroll 12
    for (int g = 0; g < G; ++g)
#pragma GCC unroll 12
      for (int p = 0; p < P; ++p) Lanes::store(numbers + g * H * kColumns + p * Lanes::kLanes, kColumns, sums[g][p]);
  }

#ifdef ATTN_AMX
  /// The same with AMX, in 2 x 2 tiles of 16 rows and 16 outputs. All rows use a panel and prefetch the next one.
  void tile_products(const Int8Rows<Lanes>& x, Index top, Index rows, Index left, Index cols, const auto& take) const {
    constexpr Index kTogether = 256;  // rows whose activations stay in the L2 cache for all panels
    constexpr Index kHigh = 32;
    AmxTiles tiles;
    alignas(64) std::int32_t numbers[kHigh * kColumns];
    for (Index i = 0; i < rows; i += kTogether) {
      const Index bottom = std::min(i + kTogether, rows), groups = (bottom - i + kHigh - 1) / kHigh;
      for (Index j = left; j < left + cols; j += kColumns) {
        AmxAhead ahead{values_.data() + panel(j + kColumns), (kColumns + groups - 1) / groups};
        for (Index r = i; r < bottom; r += kHigh) {
          const Index count = std::min(kHigh, bottom - r), upper = std::min<Index>(16, count);
          tiles.shape(upper, count - upper);
          amx_products(x.row(top + r), x.stride(), values_.data() + panel(j), kGroup * kColumns, filled_up_,
                       begins_.data() + j, numbers, kColumns, upper, count - upper, ahead);
          take(Sums{numbers, kColumns, top + r, count, j, kColumns});
        }
      }
    }
  }
#endif

  /// The offset of the panel of an output.
  Index panel(Index output) const { return output / kColumns * kColumns * filled_up_; }

  Index depth_, filled_up_, panels_;
  Buffer<std::int8_t, HostMemory> values_;
  Buffer<float, HostMemory> scales_;
  Buffer<std::int32_t, HostMemory> begins_;
};

}  // namespace attn::cpu
