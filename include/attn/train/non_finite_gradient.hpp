#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "attn/core/parameters.hpp"

namespace attn {

/// The first parameter with a non-finite gradient. If all are finite and only the squared norm overflows, the parameter
/// with the largest gradient.
template <class Device>
std::string first_non_finite_gradient(const Parameters<Device>& parameters) {
  std::string worst;
  double most = -1;
  for (const auto& entry : parameters.entries()) {
    double largest = 0;
    for (const auto number : parameters.read_gradient(entry)) {
      if (!std::isfinite(number)) return entry.name;
      largest = std::max(largest, std::abs(static_cast<double>(number)));
    }
    if (largest > most) most = largest, worst = entry.name;
  }
  return worst;
}

}  // namespace attn
