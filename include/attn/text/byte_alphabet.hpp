#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "attn/text/utf8.hpp"

/// GPT-2's mapping of bytes to printable characters, so that tokens fit into JSON and text files. Printable Latin-1 maps to
/// itself; the other bytes map in order to U+0100 and up. A space becomes U+0120, a newline U+010A.
namespace attn::byte_alphabet {

constexpr bool stands_for_itself(char32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// The character of each byte.
inline constexpr std::array<char32_t, 256> letters = [] {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) table[byte] = stands_for_itself(byte) ? byte : next++;
  return table;
}();

/// Encodes bytes as characters.
inline std::string written(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) utf8::append(text, letters[static_cast<unsigned char>(byte)]);
  return text;
}

/// Decodes characters to bytes; empty if a character stands for no byte.
inline std::optional<std::string> read(std::string_view text) {
  static constexpr auto bytes = [] {
    std::array<int, 256 + 68> table{};  // 68 bytes do not stand for themselves
    table.fill(-1);
    for (std::size_t byte = 0; byte < 256; ++byte) table[letters[byte]] = static_cast<int>(byte);
    return table;
  }();
  std::string read;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded letter = utf8::decode(text, at);
    if (!letter.valid || letter.code >= bytes.size() || bytes[letter.code] < 0) return std::nullopt;
    read += static_cast<char>(bytes[letter.code]);
    at += letter.length;
  }
  return read;
}

}  // namespace attn::byte_alphabet
