#pragma once
#include <string>
#include <string_view>

#include "attn/text/unicode_classes.hpp"
#include "attn/text/utf8.hpp"

namespace attn {

/// A readable form of a piece, where `space` marks the start of a word. A piece that continues a word starts with a dot,
/// unless it is all punctuation. A lone space shows as U+2423; part of a character shows as its bytes, <e4><bd>.
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
