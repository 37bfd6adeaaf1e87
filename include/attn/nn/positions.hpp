#pragma once
#include <cmath>
#include <concepts>
#include <limits>

#include "attn/tape/embedding.hpp"

namespace attn {

// Position policies: what tells a model where in its sentence a word stands. A policy has
//
//   word_scale(width)       what words' vectors are multiplied with before a position's is added
//   Layer<Device, Width>    PositionVectors operator()(Tape&, Index count) const: those of positions 0 to count - 1; with
//                           parameters if it needs any. Constructed from the width, or from nothing

/// Sines and cosines of falling frequencies. Their numbers are as large as 1, so words' vectors are made so too. Vaswani et al. 2017,
/// sections 3.4 and 3.5.
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
      const auto fill = [](Device& device, auto numbers) { sinusoid(device, numbers, Order); };
      return {tape.device.positions.get(tape.device, width, count, fill, static_cast<int>(Order))};
    }
    void for_each_parameter(auto&&) {}
  };
};

struct Sinusoidal : SinusoidalOf<SinusoidOrder::alternating> {};   // a sine, its cosine, the next sine
struct SinusoidalHalves : SinusoidalOf<SinusoidOrder::halves> {};  // Marian's: all sines, then all cosines

/// A table of one vector for each of so many positions, learned as words' vectors are. Gehring et al. 2017; GPT-2.
template <int Most>
struct Learned {
  static_assert(Most > 0, "attn: Learned: there must be a position to learn");
  static constexpr Index most = Most;
  static double word_scale(int) { return 1; }

  template <class Device, int Width>
  struct Layer {
    Parameter<Device> table;

    explicit Layer(Size<Width> width)
        : table{Most, width, Initial::normal(1 / std::sqrt(static_cast<double>(int(width))))} {}

    PositionVectors<Device> operator()(Tape<Device>& tape, Index count) const {
      require(count <= Most, "embedding: a sentence of ", count, " tokens goes beyond the ", Most,
              " positions that this model has learned; truncate sentences and lower the limit of translations to ", Most,
              ", or train with Learned<", count, ">");
      if (!tape.recording() || !table.learns()) return {table.matrix()};
      return {table.matrix(), table.gradient_matrix()};
    }
    void for_each_parameter(auto&& visit) { visit("table", table); }
  };
};

/// None: words alone.
struct NoPositions {
  static double word_scale(int) { return 1; }

  template <class Device, int Width>
  struct Layer {
    explicit Layer(Size<Width>) {}
    PositionVectors<Device> operator()(Tape<Device>&, Index) const { return {}; }
    void for_each_parameter(auto&&) {}
  };
};

/// How many positions there are.
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
