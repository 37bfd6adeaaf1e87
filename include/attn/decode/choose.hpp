#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "attn/decode/decoding_steps.hpp"

namespace attn {

/// A row of logits becomes their log softmax. A row of nothing but -inf stays that.
inline void log_softmax(std::span<double> row) {
  const double most = *std::max_element(row.begin(), row.end());
  if (std::isinf(most)) return;
  double sum = 0;
  for (const double x : row) sum += std::exp(x - most);
  const double log_sum = std::log(sum);
  for (double& x : row) x = x - most - log_sum;
}

/// On the host, what the op top_k gives on a device: the choices of each row of log-probabilities, rows x vocabulary.
inline void choose(std::span<const double> log_probabilities, Index rows, const ChoiceRules& rules, Choices& choices) {
  const std::size_t vocabulary = rows > 0 ? log_probabilities.size() / static_cast<std::size_t>(rows) : 0;
  const auto k = static_cast<std::size_t>(rules.k);
  choices.k = rules.k;
  choices.tokens.assign(static_cast<std::size_t>(rows) * k, -1);
  choices.log_probabilities.assign(choices.tokens.size(), -std::numeric_limits<double>::infinity());
  std::vector<Token> order;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const double* row = log_probabilities.data() + i * vocabulary;
    order.clear();
    if (!rules.only.empty() && rules.only[i] >= 0) {
      order.push_back(rules.only[i]);
    } else {
      for (std::size_t j = 0; j < vocabulary; ++j)
        if (!std::isnan(row[j]) &&
            std::find(rules.except.begin(), rules.except.end(), static_cast<Token>(j)) == rules.except.end())
          order.push_back(static_cast<Token>(j));
      const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(k, order.size()));
      std::partial_sort(order.begin(), middle, order.end(),
                        [&](Token a, Token b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    }
    for (std::size_t j = 0; j < std::min(k, order.size()); ++j) {
      choices.tokens[i * k + j] = order[j];
      choices.log_probabilities[i * k + j] = row[order[j]];
    }
  }
}

}  // namespace attn
