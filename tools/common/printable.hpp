#pragma once
#include <string>
#include <string_view>

#include "attn/text/utf8.hpp"

namespace attn {

/// Makes text safe for a terminal. Control characters become Unicode control pictures (U+001B is ␛); U+0080 to U+009F,
/// which have no pictures, and invalid UTF-8 become U+FFFD.
inline std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded letter = utf8::decode(text, at);
    at += letter.length;
    if (letter.code < ' ')
      utf8::append(shown, 0x2400 + letter.code);
    else if (letter.code == 0x7F)
      utf8::append(shown, 0x2421);
    else
      utf8::append(shown, letter.code >= 0x80 && letter.code < 0xA0 ? 0xFFFD : letter.code);
  }
  return shown;
}

}  // namespace attn
