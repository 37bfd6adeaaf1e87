#pragma once
#include <vector>

#include "attn/attention/linformer.hpp"
#include "attn/attention/multi_head.hpp"
#include "attn/models/transformer_layers.hpp"
#include "attn/models/transformer_state.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/output.hpp"
#include "attn/tape/batch.hpp"

namespace attn {

/// Run-time options of a Transformer.
struct TransformerOptions {
  Index source_vocabulary = 0, target_vocabulary = 0;
  TransformerDropout dropout = {};
  bool share_embeddings = false;        // one table for both languages
  bool tie_output = false;              // the output's weights are the target's table
  TransformerShape shape = base_shape;  // of a Transformer whose type does not say it
};

/// The Transformer of Vaswani et al. 2017, figure 1. `Attention` is used for encoder self-attention and for cross-attention;
/// decoder self-attention is always full. Replace Full<> by Linformer<32> for a Linformer.
///
///     Network<Transformer<Device>> network(device, {.source_vocabulary = 8000, .target_vocabulary = 8000,
///                                                   .shape = {.encoder_layers = 3, .decoder_layers = 3, .width = 192}}, 1);
///     Network<Transformer<Device, base_shape>> fixed(device, {...}, 1);  // the compiler knows all sizes
template <class Device, TransformerShape Shape = dynamic_shape, class Attention = Full<>, class Norm = PostNorm,
          class Activation = Relu, class Positions = Sinusoidal>
struct Transformer {
  using DeviceType = Device;
  using Options = TransformerOptions;
  using AttentionPolicy = Attention;
  using NormPolicy = Norm;
  using X = Variable<Device, Shape.width>;
  using State = TransformerState<Device>;
  static constexpr Index longest_text = most_positions<Positions>();  // that it can read or write
  using Encoder = TransformerEncoder<Device, Shape, Attention, Norm, Activation>;
  using Decoder = TransformerDecoder<Device, Shape, Attention, Norm, Activation>;

  TransformerShape shape;
  Embedding<Device, Shape.width, Positions> source_embedding;  // inputs, with their positions
  Encoder encoder;                                             // N times: self-attention, feed forward
  Embedding<Device, Shape.width, Positions> target_embedding;  // outputs shifted right, with their positions
  Decoder decoder;                     // N times: masked self-attention, cross-attention, feed forward
  Output<Device, Shape.width> output;  // linear, softmax
  bool share_embeddings, tie_output;

  explicit Transformer(const TransformerOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        source_embedding(options.source_vocabulary, shape.width, options.dropout.residual),
        encoder(layer_count(shape.encoder_layers, "encoder"), shape, options.dropout),
        target_embedding(options.target_vocabulary, shape.width, options.dropout.residual),
        decoder(shape, options.dropout),
        output(options.target_vocabulary, shape.width),
        share_embeddings(options.share_embeddings),
        tie_output(options.tie_output) {}
  Transformer(const Transformer&) = delete;  // a copy would share its parameters with the original

  /// Hidden states of the source.
  X encode(Tape<Device>& tape, const Text& source) const { return encoder(source_embedding(tape, source), source.rows); }

  /// Hidden states of the target, each of which has seen the source and what stands before it.
  X decode(Tape<Device>& tape, const Text& target, X memory, Ragged memory_rows) const {
    return decoder(target_embedding(tape, target), target.rows, memory, memory_rows);
  }

  /// What each of the target's words is predicted from.
  X hidden(Tape<Device>& tape, const Text& source, const Text& target) const {
    const X memory = encode(tape, source);
    return decode(tape, target, memory, source.rows);
  }

  /// The loss of predicting each label from the source and the target before it.
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(hidden(tape, source, target), labels, options);
  }

  /// Decoding: what the decoder remembers before the first word, in memory of a tape that outlives the words; with room for
  /// so many hypotheses of each sentence.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const;
  /// Reads the newest word of each active sentence: what the next one is predicted from.
  X read(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    const Text text = state.advance(tape, words);
    return decoder(target_embedding(tape, text, state.positions()), text.rows, state);
  }
  /// Unnormalised log-probabilities of the next word of each active sentence, given its newest word.
  Matrix<typename Device::Scalar> next(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    return state.choices.logits(output, read(tape, state, words));
  }

  /// Whether beam search can run as a CUDA graph (ActiveSentences::hold_beams).
  bool holds_beams() const { return shape.width <= widest_listed * shape.heads; }

  void for_each_parameter(auto&& visit) {
    visit("source_embedding", source_embedding);
    visit("target_embedding", target_embedding);
    visit("encoder", encoder);
    visit("decoder", decoder);
    visit("output", output);
    if (share_embeddings) visit.tie(source_embedding.table, target_embedding.table);
    if (tie_output) visit.tie(output.weight, target_embedding.table);
  }
};

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation, class Positions>
auto Transformer<Device, Shape, Attention, Norm, Activation, Positions>::start(Tape<Device>& tape, const Text& source,
                                                                               Index longest, Index hypotheses) const
    -> State {
  const X memory = encode(tape, source);
  std::vector<KeysValues<Device>> memories;
  for (const auto& layer : decoder.layers) memories.push_back(layer.cross_attention.remember(memory, source.rows));
  return State(tape, memories, longest, hypotheses);
}

}  // namespace attn
