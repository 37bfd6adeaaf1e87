#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "attn/decode/repetition.hpp"
#include "attn/decode/search_options.hpp"

namespace attn {

/// The n_best best translations of one sentence that the options allow, as found by a beam of unlimited width. Recomputes
/// every prefix from scratch. Exponential in the limit (vocabulary^limit), so only for tests with tiny cases. next(tokens
/// so far) returns the log-probabilities of all tokens.
template <class Next>
std::vector<Hypothesis> exhaustive(const Next& next, const SearchOptions& options) {
  check_options(options, 1);
  std::vector<Hypothesis> found;
  const auto add = [&](Hypothesis one, bool complete) {
    one.complete = complete;
    const auto tokens = static_cast<Index>(one.token_log_probabilities.size());
    one.score = options.score(one.log_probability, options.scored_length(tokens, complete));
    found.push_back(std::move(one));
  };
  const auto grow = [&](const auto& self, const Hypothesis& sofar) -> void {
    const auto length = static_cast<Index>(sofar.tokens.size());
    if (length == options.limit) return add(sofar, false);
    const std::vector<double> p = next(std::span<const Token>(sofar.tokens));
    const bool must = !options.prefixes.empty() && length < static_cast<Index>(options.prefixes[0].size());
    const auto taboo = repeating_tokens(sofar.tokens, options.no_repeat);
    const auto in = [](const std::vector<Token>& list, Token token) {
      return std::find(list.begin(), list.end(), token) != list.end();
    };
    bool stuck = true;
    for (Token token = 0; token < static_cast<Token>(p.size()); ++token) {
      const double log_probability = p[static_cast<std::size_t>(token)];
      if (must) {
        if (token != options.prefixes[0][static_cast<std::size_t>(length)]) continue;
      } else if (in(options.never, token) || in(taboo, token) || !(log_probability > -HUGE_VAL) ||
                 (token == options.end && length < options.min_length)) {
        continue;
      }
      stuck = false;
      Hypothesis longer = sofar;
      longer.log_probability += log_probability;
      longer.token_log_probabilities.push_back(log_probability);
      if (token == options.end && !must) {
        add(std::move(longer), true);
      } else {
        longer.tokens.push_back(token);
        self(self, longer);
      }
    }
    if (stuck) add(sofar, false);
  };
  grow(grow, {});
  std::stable_sort(found.begin(), found.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (static_cast<Index>(found.size()) > options.n_best) found.resize(static_cast<std::size_t>(options.n_best));
  return found;
}

}  // namespace attn
