#pragma once
#include "attn/decode/translate_lines.hpp"

namespace attn {

/// Several models decoded as one: the probability of a token is the mean over the models. Model types and devices may
/// differ; all share one target vocabulary. Every row's probabilities are copied to the host.
class EnsembleSteps final : public DecodingSteps {
 public:
  /// All members decode the same sentences.
  explicit EnsembleSteps(std::vector<std::unique_ptr<DecodingSteps>> members) : members_(std::move(members)) {
    require(!members_.empty(), "ensemble: no models. Pass at least one.");
    for (const auto& member : members_)
      require(member->active() == members_[0]->active(), "ensemble: one model has ", members_[0]->active().size(),
              " sentences, another ", member->active().size(), ". Give all models the same sentences.");
  }
  EnsembleSteps(const EnsembleSteps&) = delete;
  ~EnsembleSteps() override {
    while (!members_.empty()) members_.pop_back();  // in reverse order, as tapes on one device require
  }

  const std::vector<Index>& active() const override { return members_[0]->active(); }
  std::vector<Token> first_tokens(Token begin) const override { return members_[0]->first_tokens(begin); }
  void select(std::span<const Index> rows) override {
    for (const auto& member : members_) member->select(rows);
  }

  void best(const std::vector<Token>& tokens, const ChoiceRules& rules, Choices& choices) override {
    log_probabilities(tokens, mean_);
    choose(mean_, static_cast<Index>(tokens.size()), rules, choices);
  }

  void log_probabilities(const std::vector<Token>& tokens, std::vector<double>& rows) override {
    members_[0]->log_probabilities(tokens, rows);
    if (members_.size() == 1) return;
    for (double& p : rows) p = std::exp(p);
    for (std::size_t m = 1; m < members_.size(); ++m) {
      members_[m]->log_probabilities(tokens, one_);
      require(one_.size() == rows.size(), "ensemble: model ", m + 1,
              " has another vocabulary than the first. All need the same target vocabulary.");
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += std::exp(one_[i]);
    }
    for (double& p : rows) p = std::log(p / static_cast<double>(members_.size()));
  }

 private:
  std::vector<std::unique_ptr<DecodingSteps>> members_;
  std::vector<double> mean_, one_;
};

/// Searches with the averaged probabilities of several engines.
class EnsembleEngine final : public SearchEngine {
 public:
  explicit EnsembleEngine(std::vector<SearchEngine*> members) : members_(std::move(members)) {}

  Hypotheses search(const Sentences& source, const SearchOptions& options, Index worker,
                    std::vector<SearchTree>* trees) override {
    return beam_search(*start(source, options, worker), options, trees);
  }
  std::unique_ptr<DecodingSteps> start(const Sentences& source, const SearchOptions& options, Index worker) override {
    std::vector<std::unique_ptr<DecodingSteps>> steps;
    for (SearchEngine* member : members_) steps.push_back(member->start(source, options, worker));
    return std::make_unique<EnsembleSteps>(std::move(steps));
  }
  Index workers(Index batches) override {
    Index count = members_[0]->workers(batches);
    for (SearchEngine* member : members_) count = std::min(count, member->workers(batches));
    return count;
  }
  Index text_threads() const override { return members_[0]->text_threads(); }

 private:
  std::vector<SearchEngine*> members_;
};

}  // namespace attn
