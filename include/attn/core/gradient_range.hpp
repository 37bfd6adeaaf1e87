#pragma once
#include <algorithm>
#include <string_view>

#include "attn/core/parameter.hpp"

namespace attn {

/// A piece of a model's flat buffer of gradients.
template <class Real>
struct GradientRange {
  Real* first = nullptr;
  Index count = 0;
  bool operator==(const GradientRange&) const = default;
};

namespace detail {

template <class Device>
struct FindGradients {
  using Real = typename Device::Real;
  Real *first = nullptr, *last = nullptr;
  Index held = 0;

  void operator()(std::string_view, Parameter<Device>& parameter) {
    if (parameter.size() == 0 || parameter.gradient == nullptr) return;
    Real* const end = parameter.gradient + padded_size(parameter.size());
    first = first == nullptr ? parameter.gradient : std::min(first, parameter.gradient);
    last = std::max(last, end);
    held += padded_size(parameter.size());
  }
  template <class Layer>
  void operator()(std::string_view, Layer& layer) {
    layer.for_each_parameter(*this);
  }
  void tie(Parameter<Device>&, Parameter<Device>&) {}
};

}  // namespace detail

/// Where the gradients of a layer's parameters lie; nothing where they are not one piece, because some of them are another
/// layer's.
template <class Device, class Layer>
GradientRange<typename Device::Real> gradient_range(const Layer& layer) {
  detail::FindGradients<Device> find;
  const_cast<Layer&>(layer).for_each_parameter(find);  // which only looks
  if (find.last - find.first != find.held) return {};
  return {find.first, find.held};
}

}  // namespace attn
