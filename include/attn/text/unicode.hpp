#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "attn/text/unicode_tables.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// The character classes of the GPT-2 pattern, as in the regular expressions of Hugging Face's tokenizers.
namespace unicode {

/// Whether a code point is in one of the sorted ranges.
constexpr bool contains(std::span<const CodeRange> ranges, char32_t code) {
  const auto after = std::ranges::upper_bound(ranges, code, {}, &CodeRange::first);
  return after != ranges.begin() && code <= std::prev(after)->last;
}

/// \p{L}
constexpr bool is_letter(char32_t code) {
  return code < 0x80 ? (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') : contains(letters, code);
}

/// \p{N}
constexpr bool is_number(char32_t code) { return code < 0x80 ? code >= '0' && code <= '9' : contains(numbers, code); }

/// \s: the Unicode property White_Space.
constexpr bool is_space(char32_t code) {
  return code < 0x80 ? code == ' ' || (code >= '\t' && code <= '\r') : contains(spaces, code);
}

/// Capitals first, first + step, ..., last. The lower-case letter of each is at `distance` after it.
struct CapitalRange {
  char32_t first, last, step;
  std::int32_t distance;
};

/// The capitals of Latin, Greek, Cyrillic and Armenian; capitals of other scripts are not converted.
inline constexpr CapitalRange capitals[] = {
    {0x41, 0x5A, 1, 32},        {0xC0, 0xD6, 1, 32},    {0xD8, 0xDE, 1, 32},        {0x100, 0x12E, 2, 1},
    {0x132, 0x136, 2, 1},       {0x139, 0x147, 2, 1},   {0x14A, 0x176, 2, 1},       {0x178, 0x178, 1, -121},
    {0x179, 0x17D, 2, 1},       {0x187, 0x187, 1, 1},   {0x18E, 0x18E, 1, 79},      {0x18F, 0x18F, 1, 202},
    {0x1A0, 0x1A4, 2, 1},       {0x1AF, 0x1AF, 1, 1},   {0x1C4, 0x1C4, 1, 2},       {0x1C5, 0x1C5, 1, 1},
    {0x1C7, 0x1C7, 1, 2},       {0x1C8, 0x1C8, 1, 1},   {0x1CA, 0x1CA, 1, 2},       {0x1CB, 0x1DB, 2, 1},
    {0x1DE, 0x1EE, 2, 1},       {0x1F1, 0x1F1, 1, 2},   {0x1F2, 0x1F4, 2, 1},       {0x1F8, 0x21E, 2, 1},
    {0x222, 0x232, 2, 1},       {0x386, 0x386, 1, 38},  {0x388, 0x38A, 1, 37},      {0x38C, 0x38C, 1, 64},
    {0x38E, 0x38F, 1, 63},      {0x391, 0x3A1, 1, 32},  {0x3A3, 0x3AB, 1, 32},      {0x400, 0x40F, 1, 80},
    {0x410, 0x42F, 1, 32},      {0x460, 0x480, 2, 1},   {0x48A, 0x4BE, 2, 1},       {0x4C0, 0x4C0, 1, 15},
    {0x4C1, 0x4CD, 2, 1},       {0x4D0, 0x52E, 2, 1},   {0x531, 0x556, 1, 48},      {0x1E00, 0x1E94, 2, 1},
    {0x1E9E, 0x1E9E, 1, -7615}, {0x1EA0, 0x1EFE, 2, 1}, {0x2126, 0x2126, 1, -7517}, {0x212A, 0x212A, 1, -8383},
    {0x212B, 0x212B, 1, -8262}};

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// The lower-case form of a capital; other characters are unchanged.
constexpr char32_t to_lower(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  const auto range = std::ranges::lower_bound(capitals, code, {}, &CapitalRange::last);
  if (range == std::end(capitals) || code < range->first || (code - range->first) % range->step != 0) return code;
  return static_cast<char32_t>(static_cast<std::int32_t>(code) + range->distance);
}

}  // namespace unicode

/// The text with every `from` replaced by `to`, left to right.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size()))
    result.append(text.substr(0, at)).append(to);
  return result.append(text);
}

/// Lower-cases a line of UTF-8. Invalid bytes are unchanged.
inline std::string lower_case(std::string_view line) {
  std::string lower;
  lower.reserve(line.size());
  for (std::size_t at = 0; at < line.size();) {
    const auto character = utf8::decode(line, at);
    if (character.valid)
      utf8::append(lower, unicode::to_lower(character.code));
    else
      lower += line.substr(at, character.length);
    at += character.length;
  }
  return lower;
}

}  // namespace attn
