#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

/// Rounds a float to bfloat16, ties to even. NaN stays NaN.
inline double to_bfloat16(float number) {
  if (std::isnan(number)) return static_cast<double>(number);
  auto bits = std::bit_cast<std::uint32_t>(number);
  bits += 0x7fffU + (bits >> 16 & 1U);
  return static_cast<double>(std::bit_cast<float>(bits & 0xffff0000U));
}
