#pragma once
#include <span>
#include <vector>

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

}  // namespace attn
