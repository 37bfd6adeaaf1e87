#include <unistd.h>

#include <iostream>
#include <optional>

#include "attn/data/packed_file.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/decode/attention_folder.hpp"
#include "attn/decode/search_tree_picture.hpp"
#include "attn/decode/translation_report.hpp"
#include "attn/run/ready_lines.hpp"
#include "attn/run/standard_output.hpp"
#include "attn/train/line_counter.hpp"
#include "jobs.hpp"

using namespace attn;

namespace {

/// The tree of hypotheses of the first line that is not blank.
void draw_tree(const Options& options, const FolderTranslator& translator, const std::string& line) {
  const AnyTokenizer& words = translator.card().target;
  write_file(options.draw, draw_search_tree(
                               translator.search_tree(line), [&](Token token) { return words.name(token); }, line));
}

}  // namespace

void translate_text(const Options& options, FolderTranslator& translator) {
  std::optional<ReadyLines> in;
  std::optional<PackedFile> file;
  if (options.text.empty())
    in.emplace(STDIN_FILENO);
  else
    in.emplace(file.emplace(options.text).path());
  const auto most = static_cast<std::size_t>(options.together);
  std::size_t together =
      ::isatty(1) != 0 ? std::min<std::size_t>(16, most) : most;  // who looks on sees the first ones soon
  std::optional<AttentionFolder> maps;
  if (!options.maps.empty()) maps.emplace(options.maps, translator.card().source, translator.card().target);
  translator.options.search = options.search.of(translator.options.search);
  Index done = 0;
  bool drawn = options.draw.empty();
  UnfinishedTranslations unfinished;
  translator.options.warn = [&](Index line, const std::string& what) {
    std::cerr << "translate: line " << done + line << " " << what << "\n";
  };
  LineCounter counter(std::cerr, ::isatty(2) != 0);
  for (auto lines = in->next(together); !lines.empty(); lines = in->next(together)) {
    together = std::min(2 * together, most);
    translator.options.lines_before = done;
    const Index first = done;
    for (const Translation& translation : translator.translate(lines)) {
      const std::string& line = lines[static_cast<std::size_t>(done - first)];
      print_translation(std::cout, options.print, translator, done, line, translation);
      if (!drawn && !translation.source.empty()) draw_tree(options, translator, line), drawn = true;
      unfinished.add(++done, translation);
      if (maps && !translation.source.empty())
        maps->add(done, translation.source, translation.target,
                  translator.attention_maps(translation.source, translation.target));
    }
    require_written(std::cout, "the translations");
    if (!options.text.empty()) counter.update(done);
  }
  if (file) file->close();
  if (!options.text.empty()) counter.finish(done);
  if (maps) maps->finish();
  if (!drawn)
    std::cerr << "translate: there is no line to draw the hypotheses of; " << options.draw.string() << " is not written\n";
  if (unfinished.count() > 0) std::cerr << "translate: " << unfinished.to_string(translator.options.limit) << "\n";
}
