#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"

namespace attn::utf8 {

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

/// The position of the first byte that is not valid UTF-8, or npos.
constexpr std::size_t first_invalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Decoded character = decode(text, at);
    if (!character.valid) return at;
    at += character.length;
  }
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
  const std::size_t wrong = first_invalid(text);
  if (wrong == std::string::npos) return text;
  std::string repaired = text.substr(0, wrong);
  for (std::size_t at = wrong; at < text.size();) {
    const Decoded character = decode(text, at);
    append(repaired, character.code);
    at += character.length;
  }
  return repaired;
}

/// Throws if the first line of a text starts with a UTF-16 byte order mark.
inline void refuse_utf16(std::string_view first_line, std::string_view name) {
  require(!first_line.starts_with("\xFF\xFE") && !first_line.starts_with("\xFE\xFF"), name,
          " is UTF-16. Convert it to UTF-8 (iconv -f UTF-16 -t UTF-8).");
}

}  // namespace attn::utf8
