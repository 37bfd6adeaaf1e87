#include "options.hpp"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attn/core/format_count.hpp"
#include "attn/data/line_reader.hpp"
#include "attn/train/terminal.hpp"
#include "common/print_device.hpp"
#include "common/score_pairs.hpp"

using namespace attn;

namespace {

ParallelText read_pairs(const Options& options) {
  ParallelText text = read_parallel(options.source, options.target);
  require(!text.source.empty(), options.source, " is empty. Give one sentence per line.");
  return text;
}

}  // namespace

void score_given_pairs(const Options& options) {
  print_device(std::cerr, options.device);
  const FolderTranslator translator = open_translator(options.model, options.device);
  const ParallelText text = read_pairs(options);
  const std::vector<PairScore> scores = score_pairs(translator, text);
  Index cut = 0;
  for (const PairScore& score : scores) cut += score.cut;
  if (cut > 0)
    std::cerr << "score: " << counted(cut, "sentence") << " exceed " << translator.config().truncate
              << " tokens: the rest is not scored\n";
  const Perplexity all = perplexity_of(scores);
  const double log_probability = -all.mean() * static_cast<double>(all.tokens());
  if (options.json) {
    nlohmann::ordered_json row{{"system", options.target},
                               {"score", all.value()},
                               {"log_probability", log_probability},
                               {"tokens", all.tokens()},
                               {"pairs", scores.size()}};
    if (options.log_probabilities)
      for (const PairScore& score : scores) row["log_probabilities"].push_back(score.log_probability);
    nlohmann::ordered_json metric{{"metric", "perplexity"}};
    metric["systems"].push_back(row);
    std::cout << nlohmann::ordered_json::array({metric}).dump(2) << "\n";
    return;
  }
  if (options.log_probabilities) {
    std::cout << std::setprecision(9);
    for (const PairScore& score : scores) std::cout << score.log_probability << "\n";
  }
  // Next to a list, which another program may parse, the summary goes to stderr.
  (options.log_probabilities ? std::cerr : std::cout)
      << "perplexity = " << format_decimals(all.value(), 4) << " (log P = " << format_decimals(log_probability, 2) << ", "
      << counted(scores.size(), "pair") << ", " << counted(all.tokens(), "token") << " including end tokens)\n";
}
