#pragma once
#include "attn/models/active_sentences.hpp"

namespace attn {

// The contract between a model and decoding. Its required parts:

template <class Model>
concept HasDecodingState = std::derived_from<typename Model::State, ActiveSentences<typename Model::DeviceType>>;
template <class Model>
concept HasStart = requires(const Model& model, Tape<typename Model::DeviceType>& tape, const Text& source, Index count) {
  { model.start(tape, source, count, count) } -> std::same_as<typename Model::State>;
};
template <class Model>
concept HasOutput = requires(const Model& model) {
  { model.output.weight.rows } -> std::convertible_to<Index>;
};
/// Reads one token per active row. Returns the states from which the output layer predicts the next tokens.
template <class Model>
concept HasRead = requires(const Model& model, Tape<typename Model::DeviceType>& tape, typename Model::State& state,
                           const std::vector<Token>& tokens) {
  { state.choices.logits(model.output, model.read(tape, state, tokens)).rows } -> std::convertible_to<Index>;
};
/// Instead of read(), for models whose output layer is not linear: returns the unnormalised log-probabilities themselves,
/// one column for each token of state.choices.
template <class Model>
concept HasNext = requires(const Model& model, Tape<typename Model::DeviceType>& tape, typename Model::State& state,
                           const std::vector<Token>& tokens) {
  { model.next(tape, state, tokens) } -> std::convertible_to<Matrix<typename Model::DeviceType::Scalar>>;
};

template <class Model>
concept DecoderModel = HasDecodingState<Model> && HasStart<Model> && HasOutput<Model> &&(HasRead<Model> || HasNext<Model>);

/// Names each missing part in an error.
template <class Model>
constexpr bool check_decoder_model() {
  static_assert(HasDecodingState<Model>,
                "attn: decoding: a model has a state:  class State : public ActiveSentences<DeviceType>");
  static_assert(HasStart<Model> || !HasDecodingState<Model>,
                "attn: decoding: a model starts with  State start(Tape<Device>& tape, const Text& source, Index longest, "
                "Index hypotheses = 1) const;");
  static_assert(HasOutput<Model>, "attn: decoding: a model has an output layer:  Output<Device> output;");
  static_assert(HasRead<Model> || HasNext<Model> || !HasDecodingState<Model> || !HasOutput<Model>,
                "attn: decoding: a model reads tokens with  Variable<Device> read(Tape<Device>& tape, State& state, const "
                "std::vector<Token>& tokens) const;  which returns the output layer's input");
  return true;
}

// Its optional parts, with their defaults:

/// Teacher-forced hidden states, which forced_log_probabilities and attention_maps need.
template <class Model, class Device = typename Model::DeviceType>
concept HasHidden = requires(const Model& model, Tape<Device>& tape, const Text& text) {
  model.hidden(tape, text, text);
};
/// The same for a language model, whose texts have no source.
template <class Model, class Device = typename Model::DeviceType>
concept HasTextHidden = requires(const Model& model, Tape<Device>& tape, const Text& text) {
  model.hidden(tape, text);
};

/// Whether decoding steps can run as CUDA graphs. A model whose steps upload or download has  static constexpr bool
/// supports_graph = false;
template <class Model>
concept SupportsGraph = !requires {
  requires !Model::supports_graph;
};

/// Whether the only decoder state is caches read by single-query attention, so that index lists can reorder rows.
template <class Model>
concept SupportsGraphBeam = requires(const Model& model) {
  { model.supports_graph_beam() } -> std::same_as<bool>;
};

/// The maximum number of tokens that a model can decode, such as the size of a learned position table.
template <class Model>
constexpr Index longest_translation() {
  if constexpr (requires { Model::longest_text; })
    return Model::longest_text;
  else
    return std::numeric_limits<Index>::max();
}

template <class State>
concept HasFirstTokens = requires(const State& state) {
  { state.first_tokens() } -> std::convertible_to<std::vector<Token>>;
};
/// The first decoder input of each row: from the state if it provides one (a language model's last prompt token), else the
/// begin token.
template <class State>
std::vector<Token> first_tokens(const State& state, Token begin) {
  if constexpr (HasFirstTokens<State>)
    return state.first_tokens();
  else
    return std::vector<Token>(state.active().size(), begin);
}

/// Reads one token per active row. Returns unnormalised log-probabilities of the next tokens, one column for each token that
/// may be chosen (OutputRows).
template <class Device, class Model>
Matrix<typename Device::Scalar> next_logits(Tape<Device>& tape, const Model& model, typename Model::State& state,
                                            const std::vector<Token>& tokens) {
  if constexpr (HasNext<Model>) {
    const Matrix<typename Device::Scalar> logits = model.next(tape, state, tokens);
    require(state.choices.all() || logits.cols == state.choices.count(), "the model's next() returns ", logits.cols,
            " columns, but allowed_tokens has ", state.choices.count(), " tokens. Return a column for each.");
    return logits;
  } else {
    return state.choices.logits(model.output, model.read(tape, state, tokens));
  }
}

}  // namespace attn
