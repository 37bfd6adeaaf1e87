#pragma once
#include <algorithm>
#include <optional>

#include "attn/decode/search_options.hpp"

namespace attn {

/// What a command line changes of the search that a model's folder asks for, or of greedy decoding where that asks for none.
/// What is not set stays.
struct SearchChanges {
  std::optional<Index> beam = {}, complete = {}, min_length = {}, no_repeat = {};
  std::optional<Score> score = {};  // with the amount that is usual for it
  std::optional<double> amount = {};
  std::optional<Sampling> sampling = {};
  Index n_best = 0;     // 0: no list
  bool scores = false;  // greedy decoding has none; a beam of 1 finds the same, with them

  std::optional<SearchOptions> of(const std::optional<SearchOptions>& own) const {
    if (*this == SearchChanges{}) return own;
    SearchOptions search = own ? *own : SearchOptions{.beam = 1};
    if (beam) search.beam = *beam;
    if (complete) search.complete = *complete;
    if (complete || search.beam == 1) search.stop = Stop::complete;  // a beam of 1 is greedy
    if (min_length) search.min_length = *min_length;
    if (no_repeat) search.no_repeat = *no_repeat;
    if (score) search.score = {*score, *score == Score::word_reward ? 0.2 : *score == Score::gnmt ? 0.6 : 1};
    if (amount) search.score.amount = *amount;
    search.sampling = sampling;
    search.n_best = std::max<Index>(n_best, 1);
    require(sampling || n_best <= std::max(search.beam, search.complete), "--n-best ", n_best,
            " needs a --beam as wide; it is ", search.beam);
    return search;
  }
  bool operator==(const SearchChanges&) const = default;
};

}  // namespace attn
