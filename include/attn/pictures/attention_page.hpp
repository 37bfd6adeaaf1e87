#pragma once
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "attn/pictures/attention_picture.hpp"

namespace attn {

/// Draws all maps of a sentence pair as a self-contained HTML page, which is also valid XML. Each layer is a section with
/// its heads side by side; cross-attention is open, other layers are folded. Adapts to screen size and light or dark theme.
inline std::string draw_attention_page(std::string_view source, std::string_view translation,
                                       std::span<const AttentionMap> maps, const MapWords& words) {
  const auto name = [](Side side) {
    return side == Side::source ? "source" : side == Side::target ? "translation" : "mixtures of positions";
  };
  std::ostringstream out;
  out << "<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml'>\n<head><meta charset='utf-8'/>"
         "<meta name='viewport' content='width=device-width, initial-scale=1'/><title>"
      << escaped(translation)
      << "</title>\n<style>:root{color-scheme:light dark}"
         "body{font:16px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;margin:0 auto;padding:1em;max-width:90em;"
         "color:#14181f;background:#f7f8fa}"
         "dt{font-size:.85em;color:#5b6571}dd{margin:0 0 .6em;overflow-wrap:anywhere}"
         "summary{cursor:pointer;padding:.5em 0;font-weight:600}summary span{font-weight:400;color:#5b6571}"
         ".maps{display:flex;flex-wrap:wrap;gap:1em}.maps>div{overflow-x:auto;max-width:100%}"
         "svg{display:block}"
         "@media(prefers-color-scheme:dark){body{color:#f0f3f7;background:#0b0e12}dt,summary span{color:#9aa2ad}}"
      << attention_picture::style() << "</style></head>\n<body>\n<dl><dt>source</dt><dd>" << escaped(source)
      << "</dd><dt>translation</dt><dd>" << escaped(translation) << "</dd></dl>\n";
  if (maps.empty()) out << "<p>This model has no attention.</p>\n";
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const AttentionMap& map = maps[i];
    if (map.head == 0)
      out << "<details" << (map.translates() ? " open='open'" : "") << "><summary>" << escaped(map.layer) << " <span>"
          << name(map.of) << " attends to " << name(map.at) << "</span></summary><div class='maps'>\n";
    out << "<div>" << attention_picture::draw(map, words, "", false) << "</div>\n";
    if (map.head == map.heads - 1) out << "</div></details>\n";
  }
  out << "</body>\n</html>\n";
  return out.str();
}

}  // namespace attn
