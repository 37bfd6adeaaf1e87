#pragma once
#include <string>
#include <string_view>

#include "attn/text/utf8.hpp"

// What pictures and pages that attn writes (SVG, HTML) have in common.

namespace attn {

/// Text as markup shows it, inside elements and quoted attributes alike. What no XML file may hold, control characters, is
/// left out; what is not UTF-8 becomes U+FFFD.
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

/// Rules of style for light paper, and those that replace them where the reader's theme is dark. Every picture has text, a
/// title and a paper.
inline std::string themed_style(std::string_view light, std::string_view dark) {
  return "text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#3c434d}.paper{fill:#fff}"
         ".title{font-size:17px;font-weight:600;fill:#14181f}" +
         std::string(light) +
         "@media(prefers-color-scheme:dark){text{fill:#b9c1cc}.paper{fill:#12161c}.title{fill:#f0f3f7}" +
         std::string(dark) + "}";
}

}  // namespace attn
