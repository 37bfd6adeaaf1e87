#pragma once
#include "attn/decode/decoder_model.hpp"
#include "attn/decode/decoding_steps.hpp"

namespace attn {

/// Decoding steps of a model on its device. The host receives the k best choices of each row, unless it asks for all
/// log-probabilities. Steps on one device are destroyed in reverse order of construction, like tapes.
template <class Device, class Model>
class ModelSteps final : public DecodingSteps {
  static_assert(check_decoder_model<Model>());
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;

 public:
  /// `source` includes special tokens. Reserves `limit` tokens for each of `hypotheses` hypotheses per sentence.
  /// `allowed_tokens` restricts the output; ascending, empty for all tokens.
  ModelSteps(Device& device, const Model& model, const Sentences& source, Index limit, Index hypotheses,
             std::span<const Token> allowed_tokens = {})
      : model_(model), tape_(device), state_(model.start(tape_, upload(tape_, source), limit, hypotheses)) {
    if (!allowed_tokens.empty()) state_.choices.gather(tape_, model.output, allowed_tokens);
    if constexpr (SupportsGraphBeam<Model>)
      if (hypotheses > 1 && model.supports_graph_beam()) state_.list_positions();
  }

  const std::vector<Index>& active() const override { return state_.active(); }
  std::vector<Token> first_tokens(Token begin) const override { return attn::first_tokens(state_, begin); }
  void select(std::span<const Index> rows) override { state_.select(rows); }

  void best(const std::vector<Token>& tokens, const ChoiceRules& rules, Choices& choices) override {
    Tape<Device> step(tape_.device);
    const auto logits = next_logits(step, model_, state_, tokens);
    except_.clear(), only_.clear();
    for (const Token token : rules.except)
      if (state_.choices.column(token) >= 0) except_.push_back(state_.choices.column(token));
    for (const Token token : rules.only) {
      only_.push_back(state_.choices.column(token));
      require(token < 0 || only_.back() >= 0, "forced token ", token, " is not in allowed_tokens. Add it.");
    }
    const Index count = logits.rows * rules.k, excepted = static_cast<Index>(except_.size());
    const Matrix<Token> chosen(step.template array<Token>(count), logits.rows, rules.k);
    const Matrix<Real> log_probabilities(step.template array<Real>(count), logits.rows, rules.k);
    top_k(tape_.device, {.logits = logits,
                         .best = chosen,
                         .log_probabilities = log_probabilities,
                         .except = excepted > 0 ? step.upload(except_.data(), excepted) : nullptr,
                         .excepted = excepted,
                         .only = only_.empty() ? nullptr : step.upload(only_.data(), logits.rows),
                         .renormalize = rules.renormalize});
    choices.k = rules.k;
    choices.tokens.resize(static_cast<std::size_t>(count));
    real_.resize(static_cast<std::size_t>(count));
    tape_.device.download(choices.tokens.data(), chosen.data, count);
    for (Token& token : choices.tokens) token = state_.choices.token(token);
    tape_.device.download(real_.data(), log_probabilities.data, count);
    choices.log_probabilities.assign(real_.begin(), real_.end());
  }

  void log_probabilities(const std::vector<Token>& tokens, std::vector<double>& rows) override {
    Tape<Device> step(tape_.device);
    const auto logits = next_logits(step, model_, state_, tokens);
    const Index count = logits.rows * logits.cols;
    scalar_.resize(static_cast<std::size_t>(count));
    tape_.device.download(scalar_.data(), logits.data, count);
    rows.clear();
    for (const Scalar number : scalar_) rows.push_back(static_cast<Real>(number));
    for (Index i = 0; i < logits.rows; ++i)
      log_softmax(
          std::span(rows).subspan(static_cast<std::size_t>(i * logits.cols), static_cast<std::size_t>(logits.cols)));
    if (state_.choices.all()) return;
    const Index vocabulary = model_.output.weight.rows;  // tokens that are not allowed get -inf
    std::vector<double> all(static_cast<std::size_t>(logits.rows * vocabulary), -std::numeric_limits<double>::infinity());
    for (Index i = 0; i < count; ++i)
      all[static_cast<std::size_t>(i / logits.cols * vocabulary +
                                   state_.choices.token(static_cast<Token>(i % logits.cols)))] =
          rows[static_cast<std::size_t>(i)];
    rows = std::move(all);
  }

 private:
  const Model& model_;
  Tape<Device> tape_;
  typename Model::State state_;
  std::vector<Real> real_;
  std::vector<Scalar> scalar_;
  std::vector<Token> except_, only_;  // columns of the logits
};

}  // namespace attn
