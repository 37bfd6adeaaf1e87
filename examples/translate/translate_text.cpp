#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "attn/data/packed_file.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/decode/attention_folder.hpp"
#include "attn/decode/search_tree_picture.hpp"
#include "attn/decode/translation_report.hpp"
#include "attn/run/ready_lines.hpp"
#include "attn/train/json_text.hpp"
#include "attn/train/line_counter.hpp"
#include "jobs.hpp"

using namespace attn;

namespace {

/// Links between the words of a line and of one of its translations; none of a blank one.
std::vector<WordLink> links(const FolderTranslator& translator, const Translation& translation, const Hypothesis& one) {
  return one.tokens.empty() ? std::vector<WordLink>() : translator.alignment(translation.source, one.tokens);
}

/// A line of text as it goes out, or several where a list of the best is asked for: line ||| text ||| score ||| alignment,
/// those of them that are.
void print(const Options& options, const FolderTranslator& translator, Index line, const Translation& translation) {
  const auto print_one = [&](const TranslatedHypothesis& one) {
    std::vector<std::string> fields;
    if (options.n_best) fields.push_back(std::to_string(line));
    fields.push_back(one.text);
    if (options.n_best || options.scores) fields.push_back(format_score(one.score));
    if (options.alignments) fields.push_back(format_links(links(translator, translation, one)));
    std::cout << join_fields(fields) << '\n';
  };
  if (translation.n_best.empty()) print_one({});
  for (std::size_t i = 0; i < translation.n_best.size() && (i == 0 || options.n_best); ++i)
    print_one(translation.n_best[i]);
}

/// The same as one object, in which the line itself stands too.
void print_json(const Options& options, const FolderTranslator& translator, const std::string& line,
                const Translation& translation) {
  using Json = nlohmann::ordered_json;
  const auto described = [&](Json object, const TranslatedHypothesis& one) {
    object["translation"] = one.text;
    if (options.n_best || options.scores) object["score"] = one.score;
    if (options.alignments) {
      object["alignment"] = Json::array();
      for (const WordLink& link : links(translator, translation, one))
        object["alignment"].push_back({link.source, link.target});
    }
    object["complete"] = one.complete;
    return object;
  };
  const TranslatedHypothesis blank{Hypothesis{.complete = true}, ""};
  Json object = described({{"source", line}}, translation.n_best.empty() ? blank : translation.n_best[0]);
  if (options.n_best) {
    object["n_best"] = Json::array();
    for (const TranslatedHypothesis& one : translation.n_best) object["n_best"].push_back(described({}, one));
  }
  std::cout << json_text(object) << '\n';
}

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
  if (options.search) translator.options.search = options.search;
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
      if (options.json)
        print_json(options, translator, line, translation);
      else
        print(options, translator, done, translation);
      if (!drawn && !translation.source.empty()) draw_tree(options, translator, line), drawn = true;
      unfinished.add(++done, translation);
      if (maps && !translation.source.empty())
        maps->add(done, translation.source, translation.target,
                  translator.attention_maps(translation.source, translation.target));
    }
    std::cout << std::flush;
    require(std::cout.good(), "cannot write the translations to standard output; is the disk full?");
    if (!options.text.empty()) counter.update(done);
  }
  if (file) file->close();
  if (!options.text.empty()) counter.finish(done);
  if (maps) maps->finish();
  if (unfinished.count() > 0) std::cerr << "translate: " << unfinished.to_string(translator.options.limit) << "\n";
}
