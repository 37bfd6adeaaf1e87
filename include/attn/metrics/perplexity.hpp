#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Perplexity: exp of the mean negative log-likelihood per token. Sums over batches, so that each token weighs the same.
class Perplexity {
 public:
  /// Adds a batch: the summed negative log-likelihood (natural logarithm) and number of its tokens.
  void add(double negative_log_likelihood, Index tokens) {
    require(tokens >= 0, "Perplexity: a batch has ", tokens, " tokens. Pass the number of predicted tokens.");
    sum_ += negative_log_likelihood;
    tokens_ += tokens;
  }

  Index tokens() const { return tokens_; }

  double mean() const {
    require(tokens_ > 0, "Perplexity: no tokens were added, so there is no mean; is the corpus empty?");
    return sum_ / static_cast<double>(tokens_);
  }

  double value() const { return std::exp(mean()); }

 private:
  double sum_ = 0;
  Index tokens_ = 0;
};

}  // namespace attn
