#pragma once
#include <cmath>
#include <iterator>
#include <span>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// How many words a model hesitates between at each step: exp of the mean negative log-likelihood of a token. Sums are
/// kept, not means, so that batches of different sizes weigh as their tokens do.
class Perplexity {
 public:
  /// Adds a batch: the summed negative log-likelihood (natural logarithm) of its tokens, and how many they are.
  void add(double negative_log_likelihood, Index tokens) {
    require(tokens >= 0, "Perplexity: a batch cannot have ", tokens, " tokens; give the number of predicted tokens");
    sum_ += negative_log_likelihood;
    tokens_ += tokens;
  }

  /// Adds tokens by their log-probabilities (natural logarithm).
  template <class Real>
  void add_log_probabilities(std::span<const Real> of_tokens) {
    double sum = 0;
    for (const Real each : of_tokens) {
      require(each <= 0, "Perplexity: ", each, " is not the logarithm of a probability, which is at most 0");
      sum -= static_cast<double>(each);
    }
    add(sum, std::ssize(of_tokens));
  }

  Index tokens() const { return tokens_; }

  /// The mean negative log-likelihood of a token.
  double mean() const {
    require(tokens_ > 0, "Perplexity: no tokens were added, so there is no mean; is the corpus empty?");
    return sum_ / static_cast<double>(tokens_);
  }

  /// exp(mean())
  double value() const { return std::exp(mean()); }

 private:
  double sum_ = 0;
  Index tokens_ = 0;
};

}  // namespace attn
