#pragma once
#include "attn/core/types.hpp"

namespace attn {

/// Restricts the choices of one step.
struct ChoiceRules {
  Index k = 1;                // choices per row
  std::vector<Token> except;  // excluded tokens
  std::vector<Token> only;    // per row: the forced token, or -1; empty if no row is forced
  bool renormalize = false;   // the softmax excludes the tokens of `except`
};

/// Next-token choices of each row: rows x k, most probable first, ties by lower token. Missing choices are -1 and -inf.
struct Choices {
  Index k = 0;
  std::vector<Token> tokens;
  std::vector<double> log_probabilities;
};

/// Stepwise decoding of a batch: the interface through which search uses a model, an ensemble or a table of probabilities.
/// Each row is a hypothesis of a sentence; initially each sentence has one empty row. A step reads one token per row and
/// returns the next-token choices.
class DecodingSteps {
 public:
  virtual ~DecodingSteps() = default;

  virtual const std::vector<Index>& active() const = 0;  // the sentence of each row
  /// The first input token of each row, for sentences that begin with `begin`.
  virtual std::vector<Token> first_tokens(Token begin) const { return std::vector<Token>(active().size(), begin); }

  /// New row i continues row rows[i]. Rows may be repeated, reordered and dropped.
  virtual void select(std::span<const Index> rows) = 0;

  /// Reads one token per row and returns the best next tokens.
  virtual void best(const std::vector<Token>& tokens, const ChoiceRules& rules, Choices& choices) = 0;
  /// Reads one token per row and returns the log-probabilities of all tokens: rows x vocabulary.
  virtual void log_probabilities(const std::vector<Token>& tokens, std::vector<double>& rows) = 0;
};

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
    const auto excepted = [&](Token token) { return std::ranges::find(rules.except, token) != rules.except.end(); };
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
