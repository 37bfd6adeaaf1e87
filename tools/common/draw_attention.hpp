#pragma once
#include <cstdio>
#include <filesystem>

#include "attn/core/file.hpp"
#include "attn/core/sentences.hpp"
#include "attn/pictures/attention_picture.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/text/any_tokenizer.hpp"

namespace attn {

/// A folder of attention maps: a numbered page for each sentence (0001.html), a picture of the last cross-attention layer
/// (0001.svg, mean of its heads), and an index (index.html).
class AttentionFolder {
 public:
  /// Creates the folder and removes maps of an earlier text. The tokenizers are the model's.
  AttentionFolder(std::filesystem::path folder, AnyTokenizer source, AnyTokenizer target)
      : folder_(std::move(folder)), source_(std::move(source)), target_(std::move(target)) {
    make_folder(folder_);
    remove_maps(folder_);
  }

  /// Removes pages, pictures and the index; keeps all other files.
  static void remove_maps(const std::filesystem::path& folder) {
    remove_files(folder, [](std::string_view name) {
      return name == "index.html" || is_numbered(name, "", ".html", 4) || is_numbered(name, "", ".svg", 4);
    });
  }

  /// Draws the maps of sentence number `line`. `target` is the generated or forced translation.
  void add(Index line, std::span<const Token> source, std::span<const Token> target, std::span<const AttentionMap> maps) {
    MapWords words{names(source_, source), names(target_, target), names(target_, target)};
    words.source.push_back(source_.name(source_.end()));
    words.read.insert(words.read.begin(), target_.name(target_.begin()));
    words.written.push_back(target_.name(target_.end()));
    char number[24];
    std::snprintf(number, sizeof number, "%04lld", static_cast<long long>(line));
    const std::string read = source_.decode(source), written = target_.decode(target), page = std::string(number) + ".html";
    write_file(folder_ / page, draw_attention_page(read, written, maps, words));
    const auto means = mean_of_heads(maps);
    const auto last = std::find_if(means.rbegin(), means.rend(), [](const AttentionMap& map) { return map.translates(); });
    if (last != means.rend())
      write_file(folder_ / (std::string(number) + ".svg"), draw_attention_map(*last, words, last->layer));
    list_ += "<li><a href='" + page + "'>" + number + "</a> " + escaped(read) + "<br/>" + escaped(written) + "</li>\n";
  }

  /// Writes the index.
  void finish() const {
    write_file(folder_ / "index.html",
               "<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml'><head><meta charset='utf-8'/>"
               "<meta name='viewport' content='width=device-width, initial-scale=1'/><title>Attention maps</title>"
               "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1em;"
               "max-width:50em}li{list-style:none;margin:.5em 0}</style></head>\n<body><ul>\n" +
                   list_ + "</ul></body></html>\n");
  }

 private:
  static std::vector<std::string> names(const AnyTokenizer& tokenizer, std::span<const Token> tokens) {
    std::vector<std::string> all;
    for (const Token token : tokens) all.push_back(tokenizer.name(token));
    if (!all.empty() && all[0].starts_with("\u00b7")) all[0].erase(0, 2);  // the first piece starts a word without a space
    return all;
  }

  std::filesystem::path folder_;
  AnyTokenizer source_, target_;
  std::string list_;
};

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
