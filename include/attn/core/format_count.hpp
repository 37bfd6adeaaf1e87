#pragma once
#include <cstdio>

#include "attn/core/types.hpp"

// Formats numbers for people.

namespace attn {

namespace detail {

/// printf to a string.
std::string formatted(const char* format, auto... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

}  // namespace detail

/// 1234567 as "1,234,567".
inline std::string format_count(Index count) {
  std::string digits = std::to_string(count);
  const Index front = count < 0 ? 1 : 0;
  for (Index i = static_cast<Index>(digits.size()) - 3; i > front; i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}

/// "1 pair", "2 pairs", "1,234 pairs"; for nouns with a plural in s.
std::string counted(auto count, std::string_view noun) {
  return format_count(static_cast<Index>(count)) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace attn
