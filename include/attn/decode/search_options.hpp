#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// One translation of a sentence, as a search found it.
struct Hypothesis {
  std::vector<Token> tokens = {};                    // without begin and end
  double log_probability = 0;                        // log P(tokens, end | source), in natural logarithms
  double score = 0;                                  // by which it was chosen: the higher the better
  std::vector<double> token_log_probabilities = {};  // of each token given those before it; the end's comes last
  bool complete = true;                              // false: the limit came before the end, whose probability is not in it

  bool operator==(const Hypothesis&) const = default;
};

/// How hypotheses of different lengths compare once they are complete; t counts tokens and the end, if it came.
///
///   log_probability   log P: longer ones score lower
///   length            log P / t^amount; an amount of 1 is the mean of a token
///   word_reward       log P + amount t
///   gnmt              log P / ((5 + t) / 6)^amount; Wu et al. 2016
enum class Score { log_probability, length, word_reward, gnmt };

struct FinalScore {
  Score kind = Score::length;
  double amount = 1;

  double operator()(double log_probability, Index t) const {
    const auto length = static_cast<double>(std::max<Index>(t, 1));
    switch (kind) {
      case Score::length:
        return log_probability / std::pow(length, amount);
      case Score::word_reward:
        return log_probability + amount * static_cast<double>(t);
      case Score::gnmt:
        return log_probability / std::pow((5 + length) / 6, amount);
      case Score::log_probability:
        break;
    }
    return log_probability;
  }
};

/// When a sentence's search is over before its limit.
///
///   complete     `complete` hypotheses are
///   no_better    and no live one can end with a score above the last of the best `complete`
///   no_better_now  the same, as if live ones ended at their present length: Hugging Face's early_stopping=False
enum class Stop { complete, no_better, no_better_now };

/// Draws each token at random instead of searching.
struct Sampling {
  double temperature = 1;  // probabilities become p^(1 / temperature): below 1 the probable ones more so
  Index top_k = 0;         // only of so many of the most probable tokens; 0: of all
  double top_p = 1;        // only of the fewest most probable tokens whose probabilities add up to so much
  std::uint64_t seed = 1;
  bool operator==(const Sampling&) const = default;
};

struct SearchOptions {
  Token begin = 0, end = 0;  // what every translation begins and ends with; neither is part of it
  Index limit = 256;         // tokens of a translation
  Index beam = 5;            // live hypotheses of a sentence
  Index complete = 0;        // complete ones at which a sentence's search ends; 0: as many as live ones
  Stop stop = Stop::complete;
  bool free_end = false;  // at the limit the end comes at no cost and counts in t: Hugging Face's forced_eos_token_id
  FinalScore score = {};
  Index n_best = 1;                               // hypotheses given back for each sentence, or drawn
  Index min_length = 0;                           // tokens of a translation at least
  std::vector<Token> never = {};                  // tokens that no translation holds, such as the unknown word
  std::vector<Token> among = {};                  // the tokens that translations are made of, rising; none: all
  Index no_repeat = 0;                            // no so many tokens occur twice in a row of a translation; 0: they may
  std::vector<std::vector<Token>> prefixes = {};  // what each sentence's translation begins with; or none
  std::optional<Sampling> sampling = {};
  std::vector<std::uint64_t> streams = {};  // of random numbers, one for each sentence; none: its place in the batch

  /// t of a hypothesis of so many tokens, among them its end, if it came.
  Index scored_length(Index tokens, bool ended) const { return tokens + (free_end && !ended && tokens == limit ? 1 : 0); }
  Index complete_or_beam() const { return complete > 0 ? complete : beam; }
  Index rows() const { return sampling ? n_best : beam; }  // of a sentence at most, which decoding needs room for
};

/// Refuses options that contradict each other or the sentences.
inline void check(const SearchOptions& options, Index sentences) {
  const auto as_many = [&](std::size_t given, const char* what) {
    require(given == 0 || static_cast<Index>(given) == sentences, "search: ", given, " ", what, " for ", sentences,
            " sentences; give one each, or none");
  };
  as_many(options.prefixes.size(), "prefixes");
  as_many(options.streams.size(), "streams of random numbers");
  for (const auto& prefix : options.prefixes) {
    require(std::ranges::all_of(prefix, [](Token token) { return token >= 0; }),
            "search: a prefix holds a token below 0; tokens count from 0");
    require(static_cast<Index>(prefix.size()) < std::max<Index>(options.limit, 1), "search: a prefix of ", prefix.size(),
            " tokens leaves no room within a limit of ", options.limit, "; raise the limit");
    require(std::find(prefix.begin(), prefix.end(), options.end) == prefix.end(), "search: a prefix holds the end token ",
            options.end, ", so that nothing could follow; leave it out");
  }
  require(options.among.empty() || std::ranges::binary_search(options.among, options.end), "search: the end token ",
          options.end, " is none of the tokens to choose among; add it to the list");
  require(options.beam >= 1 && options.n_best >= 1, "search: a beam of ", options.beam, " and a list of ", options.n_best,
          " are not possible; both are at least 1");
  require(options.limit >= 0 && options.min_length >= 0 && options.no_repeat >= 0 && options.complete >= 0,
          "search: limit, min_length, no_repeat and complete are ", options.limit, ", ", options.min_length, ", ",
          options.no_repeat, " and ", options.complete, "; none may be negative");
  require(std::isfinite(options.score.amount), "search: the amount of the score is ", options.score.amount,
          "; it must be finite");
  require(options.min_length <= options.limit, "search: a translation of at least ", options.min_length,
          " tokens is longer than the limit of ", options.limit);
  if (!options.sampling) {
    require(options.n_best <= std::max(options.beam, options.complete), "search: a list of the ", options.n_best,
            " best needs a beam as wide; it is ", options.beam);
    return;
  }
  const Sampling& by = *options.sampling;
  require(by.temperature > 0 && by.top_k >= 0 && by.top_p > 0 && by.top_p <= 1, "sampling: a temperature of ",
          by.temperature, ", a top_k of ", by.top_k, " and a top_p of ", by.top_p,
          " are not possible; they are above 0, at least 0, and above 0 up to 1");
}

}  // namespace attn
