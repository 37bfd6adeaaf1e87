#pragma once
#include "attn/decode/search_options.hpp"

namespace attn {

/// Command-line changes to the search options of a model folder, or to greedy decoding if the folder sets none. Unset
/// options stay unchanged.
struct SearchChanges {
  std::optional<Index> beam = {}, complete = {}, min_length = {}, no_repeat = {};
  std::optional<ScoreKind> score = {};  // uses its default amount
  std::optional<double> amount = {};
  std::optional<Sampling> sampling = {};
  Index n_best = 0;     // 0: no n-best list
  bool scores = false;  // greedy decoding has no scores; a beam of 1 gives the same output with scores

  std::optional<SearchOptions> of(const std::optional<SearchOptions>& own) const {
    if (*this == SearchChanges{}) return own;
    SearchOptions search = own ? *own : SearchOptions{.beam = 1};
    if (beam) search.beam = *beam;
    if (complete) search.complete = *complete;
    if (complete || search.beam == 1) search.stop = Stop::complete;  // a beam of 1 is greedy
    if (min_length) search.min_length = *min_length;
    if (no_repeat) search.no_repeat = *no_repeat;
    if (score) search.score = {*score, *score == ScoreKind::word_reward ? 0.2 : *score == ScoreKind::gnmt ? 0.6 : 1};
    if (amount) search.score.amount = *amount;
    search.sampling = sampling;
    search.n_best = std::max<Index>(n_best, 1);
    require(sampling || n_best <= std::max(search.beam, search.complete), "--n-best ", n_best, " needs --beam ", n_best,
            " or more; it is ", search.beam);
    return search;
  }
  bool operator==(const SearchChanges&) const = default;
};

}  // namespace attn
