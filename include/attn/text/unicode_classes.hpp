#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>

#include "attn/text/unicode_tables.hpp"

/// The character classes of the GPT-2 pattern, as the regular expressions of Hugging Face's tokenizers see them.
namespace attn::unicode {

/// Whether a code point lies in one of the sorted ranges.
template <std::size_t Count>
constexpr bool contains(const CodeRange (&ranges)[Count], char32_t code) {
  const auto after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                      [](char32_t value, const CodeRange& range) { return value < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
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
