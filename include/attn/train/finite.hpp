#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "attn/core/parameters.hpp"

namespace attn {

/// The name of the first parameter that holds NaN or infinity, or "". Takes all of them from the device, one by one.
template <class Device>
std::string first_not_finite(const Parameters<Device>& parameters) {
  for (const auto& entry : parameters.entries())
    if (!std::ranges::all_of(parameters.read(entry), [](auto number) { return std::isfinite(number); })) return entry.name;
  return "";
}

}  // namespace attn
