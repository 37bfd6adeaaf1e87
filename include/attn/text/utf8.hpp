#pragma once
#include <iterator>

#include "attn/core/error.hpp"
#include "attn/text/unicode_tables.hpp"

namespace attn {

namespace utf8 {

inline constexpr char32_t replacement = 0xFFFD;

/// One decoded character. For invalid bytes, code is U+FFFD and length is the number of bytes to skip.
struct Decoded {
  char32_t code;
  std::size_t length;
  bool valid;
};

/// Decodes the character at byte `at`, which must be inside the text. Rejects overlong forms, surrogates and codes above
/// U+10FFFF. An invalid sequence ends before the first byte that cannot continue it, as in Rust and Python.
constexpr Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
  if (length == 1) return {replacement, 1, false};

  // Second-byte bounds that reject overlong forms (E0, F0), surrogates (ED) and codes above U+10FFFF (F4).
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte(at + i);
    if (next < low || next > high) return {replacement, i, false};
    code = code << 6 | (next & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return {code, length, true};
}

/// A decoded character and its bytes in the text.
struct Character : Decoded {
  std::string_view bytes;
};

/// The characters of a text, in order: for (const utf8::Character& character : utf8::Characters(text)).
class Characters {
 public:
  constexpr explicit Characters(std::string_view text) : rest_(text) {}

  constexpr Characters begin() const { return *this; }
  constexpr std::default_sentinel_t end() const { return {}; }
  constexpr bool operator==(std::default_sentinel_t) const { return rest_.empty(); }
  constexpr Character operator*() {
    const Decoded first = decode(rest_, 0);
    length_ = first.length;
    return {first, rest_.substr(0, length_)};
  }
  constexpr void operator++() { rest_.remove_prefix(length_); }

 private:
  std::string_view rest_;
  std::size_t length_ = 0;  // of the character that was read last
};

/// The position of the first byte that is not valid UTF-8, or npos.
constexpr std::size_t first_invalid(std::string_view text) {
  for (const Character& character : Characters(text))
    if (!character.valid) return static_cast<std::size_t>(character.bytes.data() - text.data());
  return std::string_view::npos;
}

/// Throws unless the text is valid UTF-8, with the position of the first invalid byte.
inline void require_valid(std::string_view text) {
  const std::size_t at = first_invalid(text);
  if (at == std::string_view::npos) return;
  fail("byte ", at, " of the text (value ", static_cast<int>(static_cast<unsigned char>(text[at])),
       ") is not valid UTF-8. Convert the text to UTF-8.");
}

/// Appends the UTF-8 form of a code point.
inline void append(std::string& text, char32_t code) {
  require(code < 0x110000 && (code < 0xD800 || code > 0xDFFF), "utf8: ", static_cast<std::uint32_t>(code),
          " is not a Unicode character: code points are 0 to 55295 and 57344 to 1114111");
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80)
    text += static_cast<char>(code);
  else if (code < 0x800)
    text += {static_cast<char>(0xC0 | code >> 6), tail(0)};
  else if (code < 0x10000)
    text += {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  else
    text += {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

/// Replaces each invalid sequence by U+FFFD. Models that generate byte by byte can produce invalid UTF-8.
inline std::string repair(std::string text) {
  if (first_invalid(text) == std::string::npos) return text;
  std::string repaired;
  for (const Character& character : Characters(text)) append(repaired, character.code);
  return repaired;
}

/// Throws if the first line of a text starts with a UTF-16 byte order mark.
inline void refuse_utf16(std::string_view first_line, std::string_view name) {
  require(!first_line.starts_with("\xFF\xFE") && !first_line.starts_with("\xFE\xFF"), name,
          " is UTF-16. Convert it to UTF-8 (iconv -f UTF-16 -t UTF-8).");
}

}  // namespace utf8

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

constexpr bool is_ascii_space(char32_t code) { return code == ' ' || (code >= '\t' && code <= '\r'); }

/// \s: the Unicode property White_Space.
constexpr bool is_space(char32_t code) { return code < 0x80 ? is_ascii_space(code) : contains(spaces, code); }

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
  for (const utf8::Character& character : utf8::Characters(line))
    if (character.valid)
      utf8::append(lower, unicode::to_lower(character.code));
    else
      lower += character.bytes;
  return lower;
}

}  // namespace attn
