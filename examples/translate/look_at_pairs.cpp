#include <iomanip>
#include <iostream>
#include <optional>

#include "attn/data/parallel_text.hpp"
#include "attn/decode/attention_alignment.hpp"
#include "attn/decode/attention_folder.hpp"
#include "attn/metrics/alignment_error.hpp"
#include "counter.hpp"
#include "jobs.hpp"

using namespace attn;

namespace {

/// The alignment error of a layer, by both states that a word can be aligned by.
struct LayerError {
  std::string layer;
  AlignmentError writing, reading;
};

void print(const std::vector<LayerError>& errors, Index pairs) {
  require(
      !errors.empty(),
      "this model's decoder does not look at words of the source, so that its attention aligns nothing; a Linformer looks "
      "at mixtures of positions");
  std::cout << "alignment error rate of attention, mean of the heads, " << format_count(pairs)
            << " pairs; a word is aligned by\n"
               "the state that writes it | precision | recall | that has read it | precision | recall\n";
  std::cout << std::fixed << std::setprecision(3);
  const auto three = [](const AlignmentError& error) {
    std::cout << "  " << error.rate() << "  " << error.precision() << "  " << error.recall();
  };
  for (const LayerError& error : errors) {
    three(error.writing);
    std::cout << "  |";
    three(error.reading);
    std::cout << "  " << error.layer << "\n";
  }
}

}  // namespace

void look_at_pairs(const Options& options, const FolderTranslator& translator) {
  const AnyTokenizer &from = translator.card().source, &to = translator.card().target;
  const ParallelText text = read_parallel(options.text, options.reference);
  const auto pairs = static_cast<Index>(text.source.size());
  std::vector<GoldAlignment> gold;
  if (!options.align.empty()) {
    gold = read_alignments(options.align,
                           options.link_order == "source-target" ? LinkOrder::source_target : LinkOrder::target_source);
    require(gold.size() == text.source.size(), options.align.string(), " has ", gold.size(), " lines, but ",
            options.text.string(), " has ", pairs, "; each line aligns the pair of the same number");
  }
  std::optional<AttentionFolder> drawn;
  if (!options.maps.empty()) drawn.emplace(options.maps, from, to);
  std::vector<LayerError> errors;
  Counter counter;
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    const auto line = static_cast<Index>(i) + 1;
    const WordTokens source = encode_words(text.source[i], from);
    const WordTokens target = encode_words(text.target[i], to);
    const auto maps = translator.attention_maps(source.tokens, target.tokens);
    if (drawn) drawn->add(line, source.tokens, target.tokens, maps);
    if (!gold.empty()) {
      require_within(gold[i], source.words(), target.words(), line);
      std::size_t layer = 0;
      for (const AttentionMap& map : mean_of_heads(maps)) {
        if (!map.translates()) continue;
        if (errors.size() == layer) errors.push_back({map.layer, {}, {}});
        errors[layer].writing.add(align(map, source, target, AlignedBy::writing), gold[i]);
        errors[layer++].reading.add(align(map, source, target, AlignedBy::reading), gold[i]);
      }
    }
    counter.update(line);
  }
  counter.finish(pairs);
  if (drawn) drawn->finish();
  if (!options.align.empty()) print(errors, pairs);
}
