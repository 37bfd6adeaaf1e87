#pragma once
#include <span>
#include <vector>

#include "attn/attention/multi_head.hpp"
#include "attn/attention/rope.hpp"
#include "attn/models/active_sentences.hpp"
#include "attn/models/transformer_layers.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/output.hpp"
#include "attn/tape/batch.hpp"

namespace attn {

/// Run-time options of a language model.
struct LanguageModelOptions {
  Index vocabulary = 0;
  TransformerDropout dropout = {};
  bool tie_output = true;               // the output's weights are the embedding's table
  bool output_bias = false;             // of each word
  TransformerShape shape = base_shape;  // of a model whose type does not say it; its encoder_layers are not used
};

/// What a language model remembers of its texts between two words: keys and values of all that went before, in each layer.
template <class Device>
class LanguageModelState : public ActiveSentences<Device> {
 public:
  /// From prompts, with room for `longest` more words of each, in memory of a tape that outlives the words. All words of the prompts
  /// but the last are read at once: read(tape, text, past).
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
      first_words_.push_back(*last);
    }
    for (int i = 0; i < shape.decoder_layers; ++i) past.emplace_back(tape, this->layout(), shape.width, shape.width);
    if (before.tokens.empty()) return;
    Tape<Device> pass(tape.device);
    this->advance_to_first(pass);
    read(pass, upload(pass, before), past);
  }

  std::vector<KeyValueCache<Device>> past;  // of each layer

  /// The last word of each prompt: what next() reads first.
  const std::vector<Token>& first_words() const { return first_words_; }

 private:
  static std::vector<std::int32_t> words_before_last(const Text& prompts) {
    std::vector<std::int32_t> words;
    for (Index i = 0; i < prompts.rows.count; ++i) {
      words.push_back(prompts.offsets[i + 1] - prompts.offsets[i] - 1);
      require(words.back() >= 0, "language model: prompt ", i,
              " is empty; a text goes on after one token at least, such as ", "the one that texts begin with");
    }
    return words;
  }

  std::vector<Token> first_words_;
};

/// The decoder of the Transformer with nothing but itself to look at: predicts each word of a text from those before it. GPT-2 and its
/// like are aliases.
template <class Device, TransformerShape Shape = dynamic_shape, class Norm = PostNorm, class Activation = Relu,
          class Positions = Sinusoidal, class Attention = Full<>>
struct LanguageModel {
  using DeviceType = Device;
  using Options = LanguageModelOptions;
  using X = Variable<Device, Shape.width>;
  using State = LanguageModelState<Device>;
  using Decoder = SelfAttentionStack<Device, Shape, Shape.decoder_layers, Attention, Norm, Activation, Mask::causal>;

  TransformerShape shape;
  Embedding<Device, Shape.width, Positions> embedding;  // words, with their positions
  Decoder decoder;                                      // N times: masked self-attention, feed forward
  Output<Device, Shape.width> output;                   // linear, softmax
  bool tie_output;

  explicit LanguageModel(const LanguageModelOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        embedding(options.vocabulary, shape.width, options.dropout.residual),
        decoder(layer_count(shape.decoder_layers, "decoder"), shape, options.dropout),
        output(options.vocabulary, shape.width, options.output_bias),
        tie_output(options.tie_output) {}
  LanguageModel(const LanguageModel&) = delete;  // a copy would share its numbers with the original

  /// Hidden states of a text, each of which has seen what stands before it.
  X hidden(Tape<Device>& tape, const Text& text) const { return decoder(embedding(tape, text), text.rows); }

  /// The loss of predicting each of the batch's labels from the text before it. The batch's source is not read.
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const X states = hidden(tape, upload(tape, batch.target_input));
    return output.loss(states, upload(tape, batch.target_output), options);
  }

  /// Generation: what the model remembers of the prompts, all but their last words, in memory of a tape that outlives the words.
  State start(Tape<Device>& tape, const Text& prompts, Index longest, Index hypotheses = 1) const;
  /// Reads the newest word of each active text: what the next one is predicted from.
  X read(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    const Text text = state.advance(tape, words);
    return decoder(embedding(tape, text, state.positions()), text.rows, state.past);
  }
  /// Unnormalised log-probabilities of the next word of each active text, given its newest word.
  Matrix<typename Device::Scalar> next(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    return state.choices.logits(output, read(tape, state, words));
  }

  /// Whether beam search can run as a CUDA graph (ActiveSentences::hold_beams).
  bool holds_beams() const { return shape.width <= widest_listed * shape.heads; }

  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("decoder", decoder);
    visit("output", output);
    if (tie_output) visit.tie(output.weight, embedding.table);
  }
};

template <class Device, TransformerShape Shape, class Norm, class Activation, class Positions, class Attention>
auto LanguageModel<Device, Shape, Norm, Activation, Positions, Attention>::start(Tape<Device>& tape, const Text& prompts,
                                                                                 Index longest, Index hypotheses) const
    -> State {
  return State(tape, prompts, longest, hypotheses, shape,
               [&](Tape<Device>& pass, const Text& text, auto& past) { decoder(embedding(pass, text), text.rows, past); });
}

inline constexpr TransformerShape gpt2_small_shape{
    .encoder_layers = 0, .decoder_layers = 12, .width = 768, .heads = 12, .inner = 3072};

/// GPT-2 of Radford et al. 2019. Tied, as its options are by default, it has the layout of Hugging Face's GPT2LMHeadModel
/// (train/gpt2.hpp loads its weights).
template <class Device, TransformerShape Shape = gpt2_small_shape>
using Gpt2 = LanguageModel<Device, Shape, PreNorm, Gelu, Learned<1024>>;

/// The architecture of Llama, Touvron et al. 2023: RMS norms, SwiGLU, rotary positions. Its attention has biases, which are 0
/// in weights of Hugging Face's LlamaForCausalLM (train/llama.hpp loads them).
template <class Device, TransformerShape Shape = dynamic_shape>
using Llama = LanguageModel<Device, Shape, PreNormOf<RmsNorm>, SwiGlu, NoPositions, Rope>;

}  // namespace attn
