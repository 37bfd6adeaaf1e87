#pragma once
#include "attn/attention/rope.hpp"
#include "attn/models/transformer_layers.hpp"
#include "attn/nn/embedding.hpp"

namespace attn {

struct LanguageModelOptions {
  Index vocabulary = 0;
  TransformerDropout dropout = {};
  bool tie_output = true;  // the output layer uses the embedding table
  bool output_bias = false;
  TransformerShape shape = base_shape;  // if the type is dynamic_shape; encoder_layers is not used
  float norm_epsilon = 1e-5f;           // Hugging Face's rms_norm_eps, layer_norm_epsilon
};

/// The decoding state of a language model: the keys and values of all past tokens, in each layer.
template <class Device>
class LanguageModelState : public ActiveSentences<Device> {
 public:
  /// Starts from prompts, and reserves `longest` more tokens for each. The tape must outlive the state. Reads all prompt
  /// tokens but the last in one pass: read(tape, text, past).
  template <class Read>
  LanguageModelState(Tape<Device>& tape, const Text& prompts, Index longest, Index hypotheses,
                     const TransformerShape& shape, const Read& read)
      : ActiveSentences<Device>(tape, std::span(&prompts.rows, 1), prompts.rows.longest - 1 + longest, hypotheses,
                                words_before_last(prompts)) {
    std::vector<Token> tokens(static_cast<std::size_t>(prompts.rows.rows));
    tape.device.download(tokens.data(), prompts.tokens, prompts.rows.rows);
    Sentences before;
    for (Index i = 0; i < prompts.rows.count; ++i) {
      const Token* last = tokens.data() + prompts.offsets[i + 1] - 1;
      before.push_back({tokens.data() + prompts.offsets[i], last});
      first_tokens_.push_back(*last);
    }
    for (int i = 0; i < shape.decoder_layers; ++i) past.emplace_back(tape, this->layout(), shape.width, shape.width);
    if (before.tokens.empty()) return;
    Tape<Device> pass(tape.device);
    this->advance_to_first(pass);
    read(pass, upload(pass, before), past);
  }

  std::vector<KeyValueCache<Device>> past;  // per layer

  /// The last token of each prompt, the first input of read().
  const std::vector<Token>& first_tokens() const { return first_tokens_; }

 private:
  static std::vector<std::int32_t> words_before_last(const Text& prompts) {
    std::vector<std::int32_t> counts;
    for (Index i = 0; i < prompts.rows.count; ++i) {
      counts.push_back(prompts.offsets[i + 1] - prompts.offsets[i] - 1);
      require(counts.back() >= 0, "language model: prompt ", i,
              " is empty. Pass at least one token, such as the begin token.");
    }
    return counts;
  }

  std::vector<Token> first_tokens_;
};

/// A decoder-only Transformer, which predicts each token of a text from the tokens before it. Gpt2 and Llama are aliases.
template <class Device, TransformerShape Shape = dynamic_shape, class Norm = PostNorm, class Activation = Relu,
          class Positions = Sinusoidal, class Attention = Full<>>
struct LanguageModel {
  using DeviceType = Device;
  using Options = LanguageModelOptions;
  using X = Variable<Device, Shape.width>;
  using State = LanguageModelState<Device>;
  using Decoder = TransformerStack<Device, Shape, Shape.decoder_layers, Attention, Norm, Activation, Mask::causal>;

  TransformerShape shape;
  Embedding<Device, Shape.width, Positions> embedding;  // tokens and positions
  Decoder decoder;                                      // N times: masked self-attention, feed forward
  Output<Device, Shape.width> output;                   // linear, softmax
  bool tie_output;

  explicit LanguageModel(const LanguageModelOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        embedding(options.vocabulary, shape.width, options.dropout.residual),
        decoder(layer_count(shape.decoder_layers, "decoder"), shape, options.dropout),
        output(options.vocabulary, shape.width, options.output_bias),
        tie_output(options.tie_output) {
    for_each_parameter(SetNormEpsilon{options.norm_epsilon});
  }
  LanguageModel(const LanguageModel&) = delete;  // a copy would share its parameters with the original

  /// Hidden states of a text. Each depends on its own token and the tokens before it.
  X hidden(Tape<Device>& tape, const Text& text) const { return decoder(embedding(tape, text), text.rows); }

  /// The loss of predicting each label of the batch from the text before it. The batch's source is ignored.
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const X states = hidden(tape, upload(tape, batch.target_input));
    return output.loss(states, upload(tape, batch.target_output), options);
  }

  /// Starts generation: reads all prompt tokens but the last (LanguageModelState).
  State start(Tape<Device>& tape, const Text& prompts, Index longest, Index hypotheses = 1) const {
    return State(tape, prompts, longest, hypotheses, shape, [&](Tape<Device>& pass, const Text& text, auto& past) {
      decoder(embedding(pass, text), text.rows, past);
    });
  }
  X read(Tape<Device>& tape, State& state, const std::vector<Token>& tokens) const {
    const Text text = state.advance(tape, tokens);
    return decoder(embedding(tape, text, state.positions()), text.rows, state.past);
  }

  static constexpr bool supports_graph = attn::supports_graph<Attention>;
  bool supports_graph_beam() const { return supports_graph && shape.width <= widest_listed * shape.heads; }

  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("decoder", decoder);
    visit("output", output);
    if (tie_output) visit.tie(output.weight, embedding.table);
  }
};

inline constexpr TransformerShape gpt2_small_shape{
    .encoder_layers = 0, .decoder_layers = 12, .width = 768, .heads = 12, .inner = 3072};

/// GPT-2, Radford et al. 2019. With tied weights (the default) it has the layout of Hugging Face's GPT2LMHeadModel
/// (checkpoint/gpt2.hpp loads its weights).
template <class Device, TransformerShape Shape = gpt2_small_shape>
using Gpt2 = LanguageModel<Device, Shape, PreNorm, Gelu, Learned<1024>>;

/// The architecture of Llama, Touvron et al. 2023: RMSNorm, SwiGLU, rotary positions. Its attention has biases, which are 0
/// in weights of Hugging Face's LlamaForCausalLM (checkpoint/llama.hpp loads them).
template <class Device, TransformerShape Shape = dynamic_shape>
using Llama = LanguageModel<Device, Shape, PreNormOf<RmsNorm>, SwiGlu, NoPositions, Rope>;

}  // namespace attn
