#pragma once
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "attn/decode/choose.hpp"
#include "attn/decode/decoding_steps.hpp"
#include "attn/decode/first_words.hpp"
#include "attn/ops/top_k.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// The steps of a model on its device. Of a step the host gets the k best choices of each row, unless it asks for all. Steps
/// of one device end in the opposite order of their beginning, as tapes do.
template <class Device, class Model>
class ModelSteps final : public DecodingSteps {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

 public:
  /// Of sentences with their special tokens, with room for `limit` tokens of so many hypotheses of each; made of the words
  /// `among`, rising, or of all where none are given.
  ModelSteps(Device& device, const Model& model, const Sentences& source, Index limit, Index hypotheses,
             std::span<const Token> among = {})
      : model_(model), tape_(device), state_(model.start(tape_, upload(tape_, source), limit, hypotheses)) {
    if (!among.empty()) state_.choices.gather(tape_, model.output, among);
  }

  const std::vector<Index>& alive() const override { return state_.alive(); }
  std::vector<Token> first_words(Token begin) const override { return attn::first_words(state_, begin); }
  void select(std::span<const Index> rows) override { state_.select(rows); }

  void best(const std::vector<Token>& words, const ChoiceRules& rules, Choices& choices) override {
    Tape<Device> step(tape_.device);
    const auto logits = model_.next(step, state_, words);
    except_.clear(), only_.clear();
    for (const Token word : rules.except)
      if (state_.choices.column(word) >= 0) except_.push_back(state_.choices.column(word));
    for (const Token word : rules.only) {
      only_.push_back(state_.choices.column(word));
      require(word < 0 || only_.back() >= 0, "decoding: token ", word,
              " must be taken, but is none of the words to choose among; add it to the list");
    }
    const Index count = logits.rows * rules.k, excepted = static_cast<Index>(except_.size());
    const Matrix<Token> tokens(step.template array<Token>(count), logits.rows, rules.k);
    const Matrix<Real> log_probabilities(step.template array<Real>(count), logits.rows, rules.k);
    top_k(tape_.device, {.logits = logits,
                         .best = tokens,
                         .log_probabilities = log_probabilities,
                         .except = excepted > 0 ? step.upload(except_.data(), excepted) : nullptr,
                         .excepted = excepted,
                         .only = only_.empty() ? nullptr : step.upload(only_.data(), logits.rows)});
    choices.k = rules.k;
    choices.tokens.resize(static_cast<std::size_t>(count));
    real_.resize(static_cast<std::size_t>(count));
    tape_.device.download(choices.tokens.data(), tokens.data, count);
    for (Token& token : choices.tokens) token = state_.choices.word(token);
    tape_.device.download(real_.data(), log_probabilities.data, count);
    choices.log_probabilities.assign(real_.begin(), real_.end());
  }

  void log_probabilities(const std::vector<Token>& words, std::vector<double>& rows) override {
    Tape<Device> step(tape_.device);
    const auto logits = model_.next(step, state_, words);
    const Index count = logits.rows * logits.cols;
    scalar_.resize(static_cast<std::size_t>(count));
    tape_.device.download(scalar_.data(), logits.data, count);
    rows.clear();
    for (const Scalar number : scalar_) {
      if constexpr (sizeof(Scalar) == sizeof(double))
        rows.push_back(number);
      else
        rows.push_back(static_cast<double>(static_cast<float>(number)));
    }
    for (Index i = 0; i < logits.rows; ++i)
      log_softmax(
          std::span(rows).subspan(static_cast<std::size_t>(i * logits.cols), static_cast<std::size_t>(logits.cols)));
    if (!state_.choices.all()) spread(logits.rows, logits.cols, rows);
  }

 private:
  /// Columns of the words to choose among become those of all words; the others are impossible.
  void spread(Index count, Index cols, std::vector<double>& rows) const {
    const Index vocabulary = model_.output.weight.rows;
    std::vector<double> all(static_cast<std::size_t>(count * vocabulary), -std::numeric_limits<double>::infinity());
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < cols; ++j)
        all[static_cast<std::size_t>(i * vocabulary + state_.choices.word(static_cast<Token>(j)))] =
            rows[static_cast<std::size_t>(i * cols + j)];
    rows = std::move(all);
  }

  const Model& model_;
  Tape<Device> tape_;
  typename Model::State state_;
  std::vector<Real> real_;
  std::vector<Scalar> scalar_;
  std::vector<Token> except_, only_;  // as columns
};

}  // namespace attn
