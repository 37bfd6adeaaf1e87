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

/// The text as a whole number of at least `least`; empty if it is anything else.
inline std::optional<Index> parse_index(std::string_view text, Index least = 0) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= least ? std::optional(number) : std::nullopt;
}

}  // namespace attn
