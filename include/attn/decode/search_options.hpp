#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// One translation of a sentence found by search.
struct Hypothesis {
  std::vector<Token> tokens = {};                    // without begin and end tokens
  double log_probability = 0;                        // log P(tokens, end | source), in natural logarithms
  double score = 0;                                  // FinalScore, by which hypotheses are ranked; higher is better
  std::vector<double> token_log_probabilities = {};  // per token, given the tokens before it; the end token last
  bool complete = true;                              // false: limit reached; log_probability excludes the end token

  bool operator==(const Hypothesis&) const = default;
};
using Hypotheses = std::vector<std::vector<Hypothesis>>;  // of each sentence, best first

/// Scores that compare complete hypotheses of different lengths. t counts the tokens, and the end token if it was produced.
///
///   log_probability   log P; favors short hypotheses
///   length            log P / t^amount; amount 1 gives the mean per token
///   word_reward       log P + amount t
///   gnmt              log P / ((5 + t) / 6)^amount; Wu et al. 2016
enum class ScoreKind { log_probability, length, word_reward, gnmt };

struct FinalScore {
  ScoreKind kind = ScoreKind::length;
  double amount = 1;

  double operator()(double log_probability, Index t) const {
    const auto length = static_cast<double>(std::max<Index>(t, 1));
    if (kind == ScoreKind::length) return log_probability / std::pow(length, amount);
    if (kind == ScoreKind::word_reward) return log_probability + amount * static_cast<double>(t);
    if (kind == ScoreKind::gnmt) return log_probability / std::pow((5 + length) / 6, amount);
    return log_probability;
  }
};

/// All hypotheses of a sentence that beam search considered: the k best continuations of each live one.
struct SearchTree {
  enum class Fate { dropped, live, complete, limit };  // limit: reached before its end token

  struct Node {
    Index parent;            // -1 for the root, whose token is the begin token
    Token token;             // the newest
    double log_probability;  // of the hypothesis up to this node
    Fate fate;
    bool best = false;  // on the path to the returned hypothesis
  };

  std::vector<Node> nodes;  // parents first
};

/// When the search of a sentence stops before its limit.
///
///   complete       `complete` hypotheses are complete
///   no_better      and no live one can still score above the worst of the best `complete`
///   no_better_now  the same, scoring live ones at their current length: Hugging Face's early_stopping=False
enum class Stop { complete, no_better, no_better_now };

/// Samples each token instead of searching.
struct Sampling {
  double temperature = 1;  // probabilities become p^(1 / temperature); below 1 sharpens the distribution
  Index top_k = 0;         // samples from the top_k most probable tokens; 0 from all
  double top_p = 1;        // samples from the fewest most probable tokens that sum to top_p
  std::uint64_t seed = 1;
  bool operator==(const Sampling&) const = default;
};

struct SearchOptions {
  Token begin = 0, end = 0;  // first and last token of every translation; part of neither
  Index limit = 256;         // maximum tokens of a translation
  Index beam = 5;            // live hypotheses per sentence
  Index complete = 0;        // complete hypotheses that end a sentence's search; 0: as many as `beam`
  Stop stop = Stop::complete;
  bool free_end = false;  // the end at the limit is free and counts in t: Hugging Face's forced_eos_token_id
  FinalScore score = {};
  bool scores = true;                             // compute probabilities; without them, a beam of 1 is greedy decoding
  Index n_best = 1;                               // hypotheses returned, or sampled, per sentence
  Index min_length = 0;                           // minimum tokens of a translation
  std::vector<Token> never = {};                  // tokens that no translation contains, such as the unknown token
  bool renormalize = false;                       // excludes `never` from the softmax: Hugging Face's renormalize_logits
  std::vector<Token> allowed_tokens = {};         // the only tokens allowed, ascending; empty: all
  Index no_repeat = 0;                            // n-grams of this size do not repeat in a translation; 0: they may
  std::vector<std::vector<Token>> prefixes = {};  // first tokens of each translation; may be empty
  std::optional<Sampling> sampling = {};
  std::vector<std::uint64_t> streams = {};  // random stream of each sentence; default: its index in the batch

  /// The length t of a hypothesis; `tokens` counts the end token if it was produced.
  Index scored_length(Index tokens, bool ended) const { return tokens + (free_end && !ended && tokens == limit ? 1 : 0); }
  Index complete_or_beam() const { return complete > 0 ? complete : beam; }
  /// Whether greedy decoding gives the same result. It computes no probabilities and reports NaN.
  bool greedy() const {
    return beam == 1 && !scores && n_best == 1 && complete <= 1 && min_length == 0 && no_repeat == 0 && never.size() <= 1 &&
           prefixes.empty() && !sampling;
  }
  Index rows() const { return sampling ? n_best : beam; }  // maximum rows per sentence, for allocation
};

/// Rejects options that contradict each other or the number of sentences.
inline void check_options(const SearchOptions& options, Index sentences) {
  const auto as_many = [&](std::size_t given, const char* what) {
    require(given == 0 || static_cast<Index>(given) == sentences, "search: ", given, " ", what, " for ", sentences,
            " sentences. Pass one per sentence, or none.");
  };
  as_many(options.prefixes.size(), "prefixes");
  as_many(options.streams.size(), "streams of random numbers");
  for (const auto& prefix : options.prefixes) {
    require(std::ranges::all_of(prefix, [](Token token) { return token >= 0; }),
            "search: a prefix contains a negative token id");
    require(static_cast<Index>(prefix.size()) < std::max<Index>(options.limit, 1), "search: a prefix of ", prefix.size(),
            " tokens leaves no room within the limit of ", options.limit, ". Raise the limit.");
    require(std::ranges::find(prefix, options.end) == prefix.end(), "search: a prefix contains the end token ", options.end,
            ". Remove it.");
  }
  require(options.allowed_tokens.empty() || std::ranges::binary_search(options.allowed_tokens, options.end),
          "search: the end token ", options.end, " is not in allowed_tokens. Add it.");
  require(options.beam >= 1 && options.n_best >= 1, "search: beam is ", options.beam, " and n_best ", options.n_best,
          ", but both must be at least 1");
  require(options.limit >= 0 && options.min_length >= 0 && options.no_repeat >= 0 && options.complete >= 0,
          "search: limit, min_length, no_repeat and complete are ", options.limit, ", ", options.min_length, ", ",
          options.no_repeat, " and ", options.complete, ", but must be at least 0");
  require(std::isfinite(options.score.amount), "search: score.amount is ", options.score.amount, ", but must be finite");
  require(options.min_length <= options.limit, "search: min_length ", options.min_length, " exceeds the limit of ",
          options.limit);
  if (!options.sampling) {
    require(options.n_best <= std::max(options.beam, options.complete), "search: n_best ", options.n_best,
            " exceeds the beam of ", options.beam, ". Widen the beam.");
    return;
  }
  const Sampling& by = *options.sampling;
  require(by.temperature > 0 && by.top_k >= 0 && by.top_p > 0 && by.top_p <= 1, "sampling: temperature is ", by.temperature,
          ", top_k ", by.top_k, " and top_p ", by.top_p, ". Use temperature > 0, top_k >= 0 and 0 < top_p <= 1.");
}

}  // namespace attn
