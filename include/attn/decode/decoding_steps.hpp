#pragma once
#include <span>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// What a step may choose from.
struct ChoiceRules {
  Index k = 1;                // choices of each row
  std::vector<Token> except;  // tokens that are none
  std::vector<Token> only;    // of each row: the one token that it must take, or -1; empty where no row must
};

/// What each row may go on with: rows x k, the most probable first, of equals the lower token; -1 and -inf where there is
/// nothing more.
struct Choices {
  Index k = 0;
  std::vector<Token> tokens;
  std::vector<double> log_probabilities;
};

/// A batch of sentences being decoded step by step: all that a search asks of a model, of an ensemble, or of a table of
/// probabilities. Each row is a hypothesis of a sentence; at first every sentence has one, without words. A step reads one
/// word for each row and says what may come next.
class DecodingSteps {
 public:
  virtual ~DecodingSteps() = default;

  virtual const std::vector<Index>& alive() const = 0;  // the sentence of each row
  /// What the rows read first, where sentences begin with `begin`.
  virtual std::vector<Token> first_words(Token begin) const { return std::vector<Token>(alive().size(), begin); }

  /// New row i continues row rows[i]: rows may repeat, change their order, and be left out.
  virtual void select(std::span<const Index> rows) = 0;

  /// Reads a word for each row: the likeliest next ones.
  virtual void best(const std::vector<Token>& words, const ChoiceRules& rules, Choices& choices) = 0;
  /// Reads a word for each row: log-probabilities of all tokens, rows x vocabulary.
  virtual void log_probabilities(const std::vector<Token>& words, std::vector<double>& rows) = 0;
};

}  // namespace attn
