#pragma once
#include "attn/tape/embedding.hpp"

namespace attn {

// Position policies: how a model encodes the position of a token in its sentence. A policy has
//
//   word_scale(width)       the factor of token vectors before the position vectors are added
//   Layer<Device, Width>    PositionVectors operator()(Tape&, Index count) const: the vectors of positions 0 to count - 1.
//                           May have parameters. Constructible from the width, or by default

/// Sines and cosines of decreasing frequencies. Their values reach 1, so token vectors are scaled to match. Vaswani et al.
/// 2017, sections 3.4 and 3.5.
template <SinusoidOrder Order>
struct SinusoidalOf {
  static double word_scale(int width) { return std::sqrt(static_cast<double>(width)); }

  template <class Device, int Width>
  struct Layer {
    static_assert(Width == dynamic || Width % 2 == 0,
                  "attn: Embedding: sinusoidal positions come in pairs, so the width must be even");
    Size<Width> width;

    explicit Layer(Size<Width> size) : width(size) {
      require(width % 2 == 0, "Embedding: sinusoidal positions come in pairs, so the width must be even, not ", int(width));
    }
    PositionVectors<Device> operator()(Tape<Device>& tape, Index count) const {
      const auto fill = [](Device& device, auto numbers) { sinusoid(device, numbers, Order, 10000); };
      return {tape.device.positions.get(tape.device, width, count, fill, static_cast<int>(Order))};
    }
    void for_each_parameter(auto&&) {}
  };
};

struct Sinusoidal : SinusoidalOf<SinusoidOrder::alternating> {};   // a sine, its cosine, the next sine
struct SinusoidalHalves : SinusoidalOf<SinusoidOrder::halves> {};  // Marian's: all sines, then all cosines

/// A learned table of `Most` position vectors. Gehring et al. 2017; GPT-2.
template <int Most>
struct Learned {
  static_assert(Most > 0, "attn: Learned: the number of positions must be positive");
  static constexpr Index most = Most;
  static double word_scale(int) { return 1; }

  template <class Device, int Width>
  struct Layer {
    Parameter<Device> table;

    explicit Layer(Size<Width> width)
        : table{Most, width, Initializer::normal(1 / std::sqrt(static_cast<double>(int(width))))} {}

    PositionVectors<Device> operator()(Tape<Device>& tape, Index count) const {
      require(count <= Most, "embedding: a sentence of ", count, " tokens exceeds the ", Most,
              " learned positions. Truncate sentences and limit translations to ", Most, " tokens, or train with Learned<",
              count, ">.");
      if (!tape.recording() || !table.learns()) return {table.matrix()};
      return {table.matrix(), table.gradient_matrix()};
    }
    void for_each_parameter(auto&& visit) { visit("table", table); }
  };
};

struct NoPositions {
  static double word_scale(int) { return 1; }

  template <class Device, int Width>
  struct Layer {
    PositionVectors<Device> operator()(Tape<Device>&, Index) const { return {}; }
    void for_each_parameter(auto&&) {}
  };
};

/// The number of positions that a policy supports.
template <class Policy>
constexpr Index most_positions() {
  if constexpr (requires { Policy::most; })
    return Policy::most;
  else
    return std::numeric_limits<Index>::max();
}

template <class Policy>
concept PositionPolicySaysScale = requires {
  { Policy::word_scale(8) } -> std::convertible_to<double>;
};
template <class Policy, class Device, int Width>
concept PositionPolicyHasLayer = requires(const typename Policy::template Layer<Device, Width>& layer, Tape<Device>& tape) {
  { layer(tape, Index{1}) } -> std::same_as<PositionVectors<Device>>;
};

}  // namespace attn
