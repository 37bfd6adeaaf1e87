#pragma once
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/decode/choose.hpp"
#include "attn/decode/decoding_steps.hpp"

namespace attn {

/// Several models as one: the probability of a token is the mean of those that they give it. They may be of different types,
/// on different devices; their vocabularies are the same. Every row's probabilities come to the host.
class EnsembleSteps final : public DecodingSteps {
 public:
  /// Steps of the same sentences.
  explicit EnsembleSteps(std::vector<std::unique_ptr<DecodingSteps>> members) : members_(std::move(members)) {
    require(!members_.empty(), "ensemble: there are no models in it; give one at least");
    for (const auto& member : members_)
      require(member->alive() == members_[0]->alive(), "ensemble: one model was given ", members_[0]->alive().size(),
              " sentences, another ", member->alive().size(), "; all translate the same");
  }
  EnsembleSteps(const EnsembleSteps&) = delete;
  ~EnsembleSteps() override {
    while (!members_.empty()) members_.pop_back();  // the last first, as tapes of one device end
  }

  const std::vector<Index>& alive() const override { return members_[0]->alive(); }
  std::vector<Token> first_words(Token begin) const override { return members_[0]->first_words(begin); }
  void select(std::span<const Index> rows) override {
    for (const auto& member : members_) member->select(rows);
  }

  void best(const std::vector<Token>& words, const ChoiceRules& rules, Choices& choices) override {
    log_probabilities(words, mean_);
    choose(mean_, static_cast<Index>(words.size()), rules, choices);
  }

  void log_probabilities(const std::vector<Token>& words, std::vector<double>& rows) override {
    members_[0]->log_probabilities(words, rows);
    if (members_.size() == 1) return;
    for (double& p : rows) p = std::exp(p);
    for (std::size_t m = 1; m < members_.size(); ++m) {
      members_[m]->log_probabilities(words, one_);
      require(one_.size() == rows.size(), "ensemble: model ", m + 1,
              " has another vocabulary than the first; all need the same target vocabulary");
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += std::exp(one_[i]);
    }
    for (double& p : rows) p = std::log(p / static_cast<double>(members_.size()));
  }

 private:
  std::vector<std::unique_ptr<DecodingSteps>> members_;
  std::vector<double> mean_, one_;
};

}  // namespace attn
