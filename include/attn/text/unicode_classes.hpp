#pragma once
#include <algorithm>
#include <iterator>
#include <span>

#include "attn/text/unicode_tables.hpp"

/// The character classes of the GPT-2 pattern, as in the regular expressions of Hugging Face's tokenizers.
namespace attn::unicode {

/// Whether a code point is in one of the sorted ranges.
constexpr bool contains(std::span<const CodeRange> ranges, char32_t code) {
  const auto after = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return after != ranges.begin() && code <= std::prev(after)->last;
}

/// \p{L}
constexpr bool is_letter(char32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
  return contains(letters, code);
}

/// \p{N}
constexpr bool is_number(char32_t code) {
  if (code < 0x80) return code >= '0' && code <= '9';
  return contains(numbers, code);
}

/// \s: the Unicode property White_Space.
constexpr bool is_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
  return contains(spaces, code);
}

}  // namespace attn::unicode
