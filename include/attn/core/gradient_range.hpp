#pragma once
#include <algorithm>
#include <string_view>

#include "attn/core/parameter.hpp"

namespace attn {

/// A contiguous part of a model's flat gradient buffer.
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
  Index count = 0;

  void operator()(std::string_view, Parameter<Device>& parameter) {
    if (parameter.size() == 0 || parameter.gradient == nullptr) return;
    Real* const end = parameter.gradient + padded_size(parameter.size());
    first = first == nullptr ? parameter.gradient : std::min(first, parameter.gradient);
    last = std::max(last, end);
    count += padded_size(parameter.size());
  }
  void operator()(std::string_view, auto& layer) { layer.for_each_parameter(*this); }
  void tie(Parameter<Device>&, Parameter<Device>&) {}
};

}  // namespace detail

/// The range of the gradients of a layer's parameters. Empty if they are not contiguous because another layer owns some of
/// them.
template <class Device, class Layer>
GradientRange<typename Device::Real> gradient_range(const Layer& layer) {
  detail::FindGradients<Device> find;
  const_cast<Layer&>(layer).for_each_parameter(find);  // does not change the layer
  if (find.last - find.first != find.count) return {};
  return {find.first, find.count};
}

}  // namespace attn
