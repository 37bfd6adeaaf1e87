#include <unistd.h>

#include <iostream>

#include "attn/core/format_count.hpp"
#include "attn/data/parallel_text.hpp"
#include "common/attention_error.hpp"
#include "common/draw_attention.hpp"
#include "common/line_stream.hpp"
#include "common/standard_output.hpp"
#include "options.hpp"

namespace attn::translate_tool {

void look_at_pairs(const Options& options, const FolderTranslator& translator) {
  const AnyTokenizer &from = translator.config().source, &to = translator.config().target;
  const ParallelText text = read_parallel(options.text, options.reference);
  const auto pairs = static_cast<Index>(text.source.size());
  std::vector<GoldAlignment> gold;
  if (!options.align.empty()) {
    gold = read_alignments(options.align,
                           options.link_order == "source-target" ? LinkOrder::source_target : LinkOrder::target_source);
    require(gold.size() == text.source.size(), options.align.string(), " has ", counted(gold.size(), "line"), ", but ",
            options.text.string(), " has ", pairs, ". Line i must align pair i.");
  }
  std::optional<AttentionFolder> drawn;
  if (!options.maps.empty()) drawn.emplace(options.maps, from, to);
  AttentionError error;
  LineCounter counter(std::cerr, ::isatty(2) != 0);
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    const auto line = static_cast<Index>(i) + 1;
    const WordTokens source = encode_words(text.source[i], from);
    const WordTokens target = encode_words(text.target[i], to);
    const auto maps = translator.attention_maps(source.tokens, target.tokens);
    if (drawn) drawn->add(line, source.tokens, target.tokens, maps);
    if (!gold.empty()) error.add(maps, source, target, gold[i], line);
    counter.update(line);
  }
  counter.finish(pairs);
  if (drawn) drawn->finish();
  if (options.align.empty()) return;
  std::cout << "alignment error rate of attention, mean of the heads, " << counted(pairs, "pair")
            << "; with the decoder state\n"
               "before the word | precision | recall | after the word | precision | recall\n"
            << error.to_string();
  require_written(std::cout, "the error rates");
}

}  // namespace attn::translate_tool
