#pragma once
#include <string>
#include <string_view>

#include "attn/text/unicode_classes.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// A piece of text as people read it, where `space` marks the beginning of a word: a piece that continues a word begins with
/// a dot, unless it is all punctuation; a space alone shows as one; a part of a letter shows as its bytes, <e4><bd>.
inline std::string piece_name(std::string_view piece, std::string_view space) {
  std::string name;
  if (piece == space) return "\u2423";
  if (utf8::first_invalid(piece) != piece.npos) {
    constexpr char digits[] = "0123456789abcdef";
    for (const char c : piece) {
      const auto byte = static_cast<unsigned char>(c);
      name += {'<', digits[byte >> 4], digits[byte & 15], '>'};
    }
    return name;
  }
  if (piece.starts_with(space)) return std::string(piece.substr(space.size()));
  for (std::size_t at = 0; at < piece.size() && name.empty();) {
    const utf8::Decoded one = utf8::decode(piece, at);
    if (unicode::is_letter(one.code) || unicode::is_number(one.code)) name = "\u00b7";
    at += one.length;
  }
  return name.append(piece);
}

}  // namespace attn
