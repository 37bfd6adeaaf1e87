#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/decode/attention_folder.hpp"
#include "attn/run/open_translator.hpp"

namespace attn {

/// Translates lines and draws where the model looked while it did: a folder of pages and pictures, and a list of them. A line
/// that has no tokens has no page.
inline void draw_attention(const FolderTranslator& translator, const std::vector<std::string>& lines,
                           const std::filesystem::path& folder) {
  AttentionFolder maps(folder, translator.card().source, translator.card().target);
  Index line = 0;
  for (const Translation& one : translator.translate(lines)) {
    ++line;
    if (!one.source.empty()) maps.add(line, one.source, one.target, translator.attention_maps(one.source, one.target));
  }
  maps.finish();
}

}  // namespace attn
