#pragma once
#include <string>
#include <string_view>

#include "attn/text/utf8.hpp"

// Shared by the SVG and HTML that attn writes.

namespace attn {

/// Escapes text for elements and quoted attributes. Drops control characters, which XML forbids, and replaces invalid UTF-8
/// by U+FFFD.
inline std::string escaped(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded letter = utf8::decode(text, at);
    at += letter.length;
    if (letter.code == '<')
      safe += "&lt;";
    else if (letter.code == '>')
      safe += "&gt;";
    else if (letter.code == '&')
      safe += "&amp;";
    else if (letter.code == '\'')
      safe += "&#39;";
    else if (letter.code == '"')
      safe += "&quot;";
    else if (letter.code >= ' ' && letter.code != 0xFFFE && letter.code != 0xFFFF)
      utf8::append(safe, letter.code);
  }
  return safe;
}

/// Style rules with overrides for a dark theme. Includes the rules for text, title and paper, which all pictures share.
inline std::string themed_style(std::string_view light, std::string_view dark) {
  return "text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#3c434d}.paper{fill:#fff}"
         ".title{font-size:17px;font-weight:600;fill:#14181f}" +
         std::string(light) +
         "@media(prefers-color-scheme:dark){text{fill:#b9c1cc}.paper{fill:#12161c}.title{fill:#f0f3f7}" +
         std::string(dark) + "}";
}

}  // namespace attn
