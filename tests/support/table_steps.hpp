#pragma once
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/random.hpp"
#include "attn/cpu.hpp"
#include "attn/decode/decoding_steps.hpp"
#include "attn/decode/search.hpp"

/// A model given as a function: log-probabilities of all tokens for a sentence index and the tokens so far.
using Table = std::function<std::vector<double>(attn::Index sentence, std::span<const attn::Token> tokens)>;

/// The decoding steps of a Table.
class TableSteps final : public attn::DecodingSteps {
 public:
  TableSteps(Table table, attn::Index sentences, attn::Index hypotheses, attn::Token begin)
      : table_(std::move(table)), room_(sentences * hypotheses), begin_(begin) {
    alive_.resize(static_cast<std::size_t>(sentences));
    std::iota(alive_.begin(), alive_.end(), attn::Index{0});
    tokens_.resize(alive_.size());
  }

  attn::Index steps = 0, rows = 0;  // so far, summed over steps for rows

  const std::vector<attn::Index>& active() const override { return alive_; }
  void select(std::span<const attn::Index> rows) override {
    const auto alive = alive_;
    const auto tokens = tokens_;
    alive_.clear(), tokens_.clear();
    attn::require(static_cast<attn::Index>(rows.size()) <= room_, "more rows than there is room for");
    for (const attn::Index row : rows) {
      alive_.push_back(alive.at(static_cast<std::size_t>(row)));
      tokens_.push_back(tokens.at(static_cast<std::size_t>(row)));
    }
  }
  void best(const std::vector<attn::Token>& words, const attn::ChoiceRules& rules, attn::Choices& choices) override {
    std::vector<double> all;
    log_probabilities(words, all);
    choose(all, static_cast<attn::Index>(words.size()), rules, choices);
  }
  void log_probabilities(const std::vector<attn::Token>& words, std::vector<double>& all) override {
    attn::require(words.size() == alive_.size(), "as many words as rows");
    all.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (steps == 0)
        attn::require(words[i] == begin_, "the first word is the begin token");
      else
        tokens_[i].push_back(words[i]);
      const auto row = table_(alive_[i], tokens_[i]);
      all.insert(all.end(), row.begin(), row.end());
    }
    ++steps;
    rows += static_cast<attn::Index>(words.size());
  }

 private:
  Table table_;
  attn::Index room_;
  attn::Token begin_;
  std::vector<attn::Index> alive_;
  std::vector<std::vector<attn::Token>> tokens_;
};

/// Converts probabilities to log-probabilities.
inline std::vector<double> logarithms(std::vector<double> probabilities) {
  for (double& p : probabilities) p = std::log(p);
  return probabilities;
}

/// A random model: a fixed random distribution after every prefix.
inline Table random_table(attn::Index vocabulary, std::uint64_t seed, double sharpness = 2) {
  return [=](attn::Index sentence, std::span<const attn::Token> tokens) {
    std::uint64_t stream = static_cast<std::uint64_t>(sentence) + 1;
    for (const attn::Token token : tokens) stream = stream * 1000003 + static_cast<std::uint64_t>(token) + 7;
    attn::Random random(seed, stream);
    std::vector<double> p(static_cast<std::size_t>(vocabulary));
    for (double& x : p) x = sharpness * random.normal();
    attn::log_softmax(p);
    return p;
  };
}

/// Runs beam search with a table on `sentences` sentences.
inline std::vector<std::vector<attn::Hypothesis>> search_table(const Table& table, const attn::SearchOptions& options,
                                                               attn::Index sentences = 1,
                                                               std::vector<attn::SearchTree>* trees = nullptr) {
  TableSteps steps(table, sentences, options.rows(), options.begin);
  return beam_search(steps, options, trees);
}
