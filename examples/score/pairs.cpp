#include "pairs.hpp"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attn/data/packed_file.hpp"
#include "attn/run/say_device.hpp"
#include "attn/run/score_pairs.hpp"
#include "attn/train/progress.hpp"
#include "papers/models.hpp"

using namespace attn;

namespace {

ParallelText read_pairs(const Options& options) {
  PackedFile source(options.source), target(options.target);
  ParallelText text = read_parallel(source.path(), target.path());
  source.close();
  target.close();
  require(!text.source.empty(), options.source, " is empty; give a sentence a line");
  return text;
}

/// How many sentences of a text have more tokens.
Index longer(const std::vector<std::string>& lines, const AnyTokenizer& tokenizer, Index than) {
  const Sentences sentences = encode_lines(lines, tokenizer);
  Index found = 0;
  for (Index i = 0; i < sentences.size(); ++i) found += sentences.length(i) > than ? 1 : 0;
  return found;
}

}  // namespace

void score_given_pairs(const Options& options) {
  papers::add_models(models());
  say_device(std::cerr, options.device);
  const FolderTranslator translator = open_translator(options.model, options.device);
  const ParallelText text = read_pairs(options);
  const RunCard& card = translator.card();
  const Index cut = longer(text.source, card.source, card.truncate) + longer(text.target, card.target, card.truncate);
  if (cut > 0)
    std::cerr << "score: " << format_count(cut) << " sentences have more than " << card.truncate
              << " tokens: what comes after is not scored\n";
  const std::vector<PairScore> scores = score_pairs(translator, text);
  const Perplexity all = perplexity_of(scores);
  const double log_probability = -all.mean() * static_cast<double>(all.tokens());
  if (options.json) {
    nlohmann::ordered_json found{{"perplexity", all.value()},
                                 {"log_probability", log_probability},
                                 {"tokens", all.tokens()},
                                 {"pairs", scores.size()}};
    if (options.log_probabilities)
      for (const PairScore& score : scores) found["log_probabilities"].push_back(score.log_probability);
    std::cout << found.dump(2) << "\n";
    return;
  }
  if (options.log_probabilities) {
    std::cout << std::setprecision(9);
    for (const PairScore& score : scores) std::cout << score.log_probability << "\n";
  }
  // Beside a list, which another program may read, it is for people.
  (options.log_probabilities ? std::cerr : std::cout)
      << "perplexity = " << format_decimals(all.value(), 4) << " (log P = " << format_decimals(log_probability, 2) << ", "
      << format_count(static_cast<Index>(scores.size())) << " pairs, " << format_count(all.tokens())
      << " tokens with the ends)\n";
}
