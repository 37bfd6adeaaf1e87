#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "attn/decode/decoding_steps.hpp"

namespace attn {

/// In-place log softmax of one row. A row of only -inf is left unchanged.
inline void log_softmax(std::span<double> row) {
  const double most = *std::max_element(row.begin(), row.end());
  if (std::isinf(most)) return;
  double sum = 0;
  for (const double x : row) sum += std::exp(x - most);
  const double log_sum = std::log(sum);
  for (double& x : row) x = x - most - log_sum;
}

/// Host version of the op top_k: the choices of each row of log-probabilities, rows x vocabulary.
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
    double sum = 0;  // over the tokens that may be chosen
    const auto excepted = [&](Token token) {
      return std::find(rules.except.begin(), rules.except.end(), token) != rules.except.end();
    };
    for (std::size_t j = 0; rules.renormalize && j < vocabulary; ++j)
      if (!excepted(static_cast<Token>(j))) sum += std::exp(row[j]);
    const double log_sum = rules.renormalize ? std::log(sum) : 0;
    if (!rules.only.empty() && rules.only[i] >= 0) {
      order.push_back(rules.only[i]);
    } else {
      for (std::size_t j = 0; j < vocabulary; ++j)
        if (!std::isnan(row[j]) && !excepted(static_cast<Token>(j))) order.push_back(static_cast<Token>(j));
      const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(k, order.size()));
      std::partial_sort(order.begin(), middle, order.end(),
                        [&](Token a, Token b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    }
    for (std::size_t j = 0; j < std::min(k, order.size()); ++j) {
      choices.tokens[i * k + j] = order[j];
      const double p = row[order[j]];
      choices.log_probabilities[i * k + j] = p > -HUGE_VAL ? p - log_sum : p;
    }
  }
}

}  // namespace attn
