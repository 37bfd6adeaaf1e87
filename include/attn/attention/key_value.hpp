#pragma once
#include <concepts>

#include "attn/nn/linear.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"

namespace attn {

// Key-value policies: what of a state is a key, which scores, and what is a value, which is averaged. A policy has
//
//   chooses_widths         whether its keys may be of another width than the states: then a query of the states' width is
//                          projected to the keys' where the score wants both equally wide
//   Layer<Device, Width>   of states of that width: key_width, value_width, and a call that cuts states into keys and values

/// A state is its own key and its own value.
struct States {
  static constexpr bool chooses_widths = false;

  template <class Device, int Width>
  struct Layer {
    static constexpr int key_width = Width, value_width = Width;

    KeysValues<Device, Width> operator()(Variable<Device, Width> states, Ragged rows) const {
      return {states, states, rows};
    }
    void for_each_parameter(auto&&) {}
  };
};

/// [k; v] = T h: keys and values of these widths, each made from the state. Daniluk et al. 2017.
template <int Keys, int Values>
struct KeyValue {
  static_assert(Keys > 0 && Values > 0, "attn: KeyValue: keys and values need a positive width each");
  static constexpr bool chooses_widths = true;

  template <class Device, int Width>
  struct Layer {
    static constexpr int key_width = Keys, value_width = Values;

    Projection<Device, Width, Keys + Values> transform;  // T

    KeysValues<Device, Keys, Values> operator()(Variable<Device, Width> states, Ragged rows) const {
      const auto both = transform(states);
      return {slice<0, Keys>(both), slice<Keys, Values>(both), rows};
    }
    void for_each_parameter(auto&& visit) { transform.for_each_parameter(visit); }
  };
};

template <class Policy>
concept KeyValuePolicySaysWidths = requires {
  { Policy::chooses_widths } -> std::convertible_to<bool>;
};
template <class Policy, class Device, int Width>
concept KeyValuePolicyHasLayer = requires(const typename Policy::template Layer<Device, Width>& layer,
                                          Variable<Device, Width> states, Ragged rows) {
  {
    layer(states, rows)
    } -> std::same_as<KeysValues<Device, Policy::template Layer<Device, Width>::key_width,
                                 Policy::template Layer<Device, Width>::value_width>>;
};

}  // namespace attn
