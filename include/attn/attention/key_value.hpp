#pragma once
#include "attn/nn/linear.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"

namespace attn {

// Key-value policies: how a state provides its key, which is scored, and its value, which is averaged. A policy has
//
//   chooses_widths         whether keys may be wider or narrower than the states. If the score needs equal widths, queries
//                          are then projected to the width of the keys
//   Layer<Device, Width>   for states of that width: key_width, value_width (`dynamic`: that of the states), and a call that
//                          returns keys and values. Constructible from the width, or by default

/// A state is both key and value.
struct SharedKeyValue {
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

/// [k; v] = T h: keys and values of these widths are projections of the state. Daniluk et al. 2017.
template <int Keys, int Values>
struct KeyValue {
  static_assert(Keys > 0 && Values > 0, "attn: KeyValue: the widths of keys and values must be positive");
  static constexpr bool chooses_widths = true;

  template <class Device, int Width>
  struct Layer {
    static constexpr int key_width = Keys, value_width = Values;

    Projection<Device, Width, Keys + Values> transform;  // T

    explicit Layer(Size<Width> width) : transform(width, Keys + Values) {}
    KeysValues<Device, Keys, Values> operator()(Variable<Device, Width> states, Ragged rows) const {
      const auto both = transform(states);
      return {slice<0, Keys>(both), slice<Keys, Values>(both), rows};
    }
    void for_each_parameter(auto&& visit) { transform.for_each_parameter(visit); }
  };
};

template <class Policy, class Device, int Width>
concept ProvidesKeysValues = requires(const typename Policy::template Layer<Device, Width>& layer,
                                      Variable<Device, Width> states, Ragged rows) {
  { Policy::chooses_widths } -> std::convertible_to<bool>;
  {
    layer(states, rows)
    } -> std::same_as<KeysValues<Device, Policy::template Layer<Device, Width>::key_width,
                                 Policy::template Layer<Device, Width>::value_width>>;
};

}  // namespace attn
