#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/open_translator.hpp"
#include "common/attention_folder.hpp"

namespace attn {

/// Translates lines and writes their attention maps: a folder of pages and pictures with an index. Lines without tokens
/// have no page.
inline void draw_attention(const FolderTranslator& translator, const std::vector<std::string>& lines,
                           const std::filesystem::path& folder) {
  AttentionFolder maps(folder, translator.config().source, translator.config().target);
  Index line = 0;
  for (const Translation& one : translator.translate(lines)) {
    ++line;
    if (!one.source.empty()) maps.add(line, one.source, one.target, translator.attention_maps(one.source, one.target));
  }
  maps.finish();
}

}  // namespace attn
