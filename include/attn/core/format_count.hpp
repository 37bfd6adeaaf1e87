#pragma once
#include <charconv>
#include <cstdio>

#include "attn/core/types.hpp"

// Formats numbers for people, and parses theirs.

namespace attn {

namespace detail {

/// printf to a string.
std::string formatted(const char* format, auto... values) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

}  // namespace detail

/// A decimal number with separators between its thousands.
inline std::string with_separators(std::string digits) {
  const std::size_t front = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = std::min(digits.find('.'), digits.size()); i > front + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

/// 1234567 as "1,234,567".
inline std::string format_count(Index count) { return with_separators(std::to_string(count)); }

/// "1 pair", "2 pairs", "1,234 pairs"; for nouns with a plural in s.
std::string counted(auto count, std::string_view noun) {
  return format_count(static_cast<Index>(count)) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// The text as a whole number of at least `least`; empty if it is anything else.
inline std::optional<Index> parse_index(std::string_view text, Index least = 0) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= least ? std::optional(number) : std::nullopt;
}

}  // namespace attn
