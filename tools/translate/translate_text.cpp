#include <unistd.h>

#include <condition_variable>
#include <exception>
#include <iostream>
#include <mutex>

#include "attn/core/thread_pool.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/data/packed_file.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/pictures/search_tree_picture.hpp"
#include "common/draw_attention.hpp"
#include "common/line_stream.hpp"
#include "common/print_translation.hpp"
#include "common/standard_output.hpp"
#include "options.hpp"
#include "unknown_words.hpp"

namespace attn::translate_tool {

namespace {

/// Draws the tree of hypotheses for the first non-blank line.
void draw_tree(const Options& options, const FolderTranslator& translator, const std::string& line) {
  const AnyTokenizer& words = translator.config().target;
  write_file(options.draw, draw_search_tree(
                               translator.search_tree(line), [&](Token token) { return words.name(token); }, line));
}

}  // namespace

void translate_text(const Options& options, FolderTranslator& translator) {
  std::optional<LineStream> in;
  std::optional<PackedFile> file;
  if (options.text.empty())
    in.emplace(STDIN_FILENO);
  else
    in.emplace(file.emplace(options.text).path());
  const auto most = static_cast<std::size_t>(options.batch_lines > 0 ? options.batch_lines : translator.lines_at_once());
  std::size_t wanted = ::isatty(1) != 0 ? std::min<std::size_t>(16, most) : most;  // show the first lines early
  std::optional<AttentionFolder> maps;
  if (!options.maps.empty()) maps.emplace(options.maps, translator.config().source, translator.config().target);
  translator.options.search = options.search.of(translator.options.search);
  std::optional<UnknownWords> unknown_words;
  if (options.replace_unknown) unknown_words.emplace(translator, options.unknown_tables);
  Index taken = 0, done = 0;
  bool drawn = options.draw.empty();
  UnfinishedTranslations unfinished;
  LineCounter counter(std::cerr, ::isatty(2) != 0);
  const auto print = [&](const std::vector<std::string>& lines, std::vector<Translation>& translations) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Translation& translation = translations[i];
      if (unknown_words) (*unknown_words)(lines[i], translation);
      print_translation(std::cout, options.print, translator, done, lines[i], translation);
      if (!drawn && !translation.source.empty()) draw_tree(options, translator, lines[i]), drawn = true;
      unfinished.add(++done, translation);
      if (maps && !translation.source.empty())
        maps->add(done, translation.source, translation.target,
                  translator.attention_maps(translation.source, translation.target));
    }
    require_written(std::cout, "the translations");
    if (!options.text.empty()) counter.update(done);
  };

  // Two threads alternate: while one waits for the model, the other prints, reads and encodes lines.
  std::mutex reading, printing;
  std::condition_variable printed;
  bool failed = false;
  const auto translate_some = [&](Index) {
    for (;;) {
      std::unique_lock take(reading);
      const Index first = taken;
      const std::vector<std::string> lines = in->next(wanted);
      if (lines.empty()) return;
      taken += static_cast<Index>(lines.size());
      wanted = std::min(2 * wanted, most);
      take.unlock();
      TranslatorOptions how = translator.options;
      how.lines_before = first;
      how.warn = [&](Index line, const std::string& what) {
        const std::lock_guard lock(printing);
        std::cerr << "translate: line " << first + line << " " << what << "\n";
      };
      try {
        std::vector<Translation> translations = translator.translate(lines, how);
        std::unique_lock lock(printing);
        printed.wait(lock, [&] { return done == first || failed; });
        if (done != first) return;  // an earlier batch failed
        print(lines, translations);
      } catch (const std::exception& error) {
        const std::lock_guard lock(printing);
        if (options.text.empty()) {  // the other thread may wait for a line that never comes
          std::cerr << "translate: " << error.what() << "\n";
          std::_Exit(1);
        }
        failed = true;
        printed.notify_all();
        throw;
      }
      printed.notify_all();
    }
  };
  parallel_for(2, 2, translate_some);
  if (file) file->close();
  if (!options.text.empty()) counter.finish(done);
  if (maps) maps->finish();
  if (!drawn) std::cerr << "translate: no line to draw; " << options.draw.string() << " is not written\n";
  if (unfinished.count() > 0) std::cerr << "translate: " << unfinished.to_string(translator.options.limit) << "\n";
}

}  // namespace attn::translate_tool
