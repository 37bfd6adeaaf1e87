#pragma once
#include "attn/attention/score.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

// An attention policy says what a layer looks at, and how it scores what it sees:
//
//   using Score                how a query and a key match (attention/score.hpp)
//   causal_allowed             whether it can hide the future, so that a decoder may look at its own past through it
//   LengthProjection<D, W, H>  a layer that maps keys and values into those that are looked at, with what it learns for that:
//                              KeysValues operator()(Tape&, KeysValues) const
//   looks_at_positions         true where the keys are those of single positions: maps of its weights then name their words.
//                              Without it they are numbered

template <class Policy>
concept HasScore = requires {
  typename Policy::Score;
};
template <class Policy>
concept HasMultiHeadScore = requires {
  requires MultiHeadScore<typename Policy::Score>;
};
template <class Policy>
concept SaysCausal = requires {
  { Policy::causal_allowed } -> std::convertible_to<bool>;
};
template <class Policy, class Device, int Width, int Heads>
concept HasLengthProjection = requires(const typename Policy::template LengthProjection<Device, Width, Heads>& memory,
                                       Tape<Device>& tape, KeysValues<Device, Width> kv) {
  { memory(tape, kv) } -> std::same_as<KeysValues<Device, Width>>;
};

template <class Policy, class Device, int Width, int Heads>
concept AttentionPolicy =
    HasMultiHeadScore<Policy> && SaysCausal<Policy> && HasLengthProjection<Policy, Device, Width, Heads>;

/// Looks at every key and value as it is.
template <class S = ScaledDot>
struct Full {
  using Score = S;
  static constexpr bool causal_allowed = true, looks_at_positions = true;

  template <class Device, int Width, int Heads>
  struct LengthProjection {
    KeysValues<Device, Width> operator()(Tape<Device>&, KeysValues<Device, Width> all) const { return all; }
    void for_each_parameter(auto&&) {}
  };
};

}  // namespace attn
