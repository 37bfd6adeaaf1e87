#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attn/core/parameters.hpp"

namespace attn {

/// The first parameter with a gradient that is not finite; where all are, and only their squares are too large to add up, the
/// one with the largest.
template <class Device>
std::string first_bad_gradient(const Parameters<Device>& parameters) {
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
