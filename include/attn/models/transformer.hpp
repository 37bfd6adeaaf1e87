#pragma once
#include "attn/attention/linformer.hpp"
#include "attn/models/transformer_layers.hpp"
#include "attn/nn/embedding.hpp"

namespace attn {

struct TransformerOptions {
  Index source_vocabulary = 0, target_vocabulary = 0;
  TransformerDropout dropout = {};
  bool share_embeddings = false;        // one table for both languages
  bool tie_output = false;              // the output layer uses the target table
  TransformerShape shape = base_shape;  // if the type is dynamic_shape
};

/// The Transformer of Vaswani et al. 2017, figure 1. `Attention` is used for encoder self-attention and for cross-attention;
/// decoder self-attention is always full. Replace Full<> by Linformer<32> for a Linformer.
///
///     Network<Transformer<Device>> network(device, {.source_vocabulary = 8000, .target_vocabulary = 8000,
///                                                   .shape = {.encoder_layers = 3, .decoder_layers = 3, .width = 192}}, 1);
///     Network<Transformer<Device, base_shape>> fixed(device, {...}, 1);  // all sizes in the type
template <class Device, TransformerShape Shape = dynamic_shape, class Attention = Full<>, class Norm = PostNorm,
          class Activation = Relu, class Positions = Sinusoidal>
struct Transformer {
  using DeviceType = Device;
  using Options = TransformerOptions;
  using AttentionPolicy = Attention;
  using NormPolicy = Norm;
  using X = Variable<Device, Shape.width>;
  using State = TransformerState<Device>;
  static constexpr Index longest_text = most_positions<Positions>();  // tokens of a source or target
  using Encoder = TransformerEncoder<Device, Shape, Attention, Norm, Activation>;
  using Decoder = TransformerDecoder<Device, Shape, Attention, Norm, Activation>;

  TransformerShape shape;
  Embedding<Device, Shape.width, Positions> source_embedding;  // inputs and positions
  Encoder encoder;                                             // N times: self-attention, feed forward
  Embedding<Device, Shape.width, Positions> target_embedding;  // outputs shifted right, and positions
  Decoder decoder;                     // N times: masked self-attention, cross-attention, feed forward
  Output<Device, Shape.width> output;  // linear, softmax
  bool share_embeddings, tie_output;

  explicit Transformer(const TransformerOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        source_embedding(options.source_vocabulary, shape.width, options.dropout.residual),
        encoder(layer_count(shape.encoder_layers, "encoder"), shape, options.dropout),
        target_embedding(options.target_vocabulary, shape.width, options.dropout.residual),
        decoder(layer_count(shape.decoder_layers, "decoder"), shape, options.dropout),
        output(options.target_vocabulary, shape.width),
        share_embeddings(options.share_embeddings),
        tie_output(options.tie_output) {}
  Transformer(const Transformer&) = delete;  // a copy would share its parameters with the original

  X encode(Tape<Device>& tape, const Text& source) const { return encoder(source_embedding(tape, source), source.rows); }

  /// Hidden states of the target. Each depends on the source, its own token and the tokens before it.
  X decode(Tape<Device>& tape, const Text& target, X memory, Ragged memory_rows) const {
    return decoder(target_embedding(tape, target), target.rows, memory, memory_rows);
  }

  /// The states from which the target tokens are predicted.
  X hidden(Tape<Device>& tape, const Text& source, const Text& target) const {
    const X memory = encode(tape, source);
    return decode(tape, target, memory, source.rows);
  }

  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(hidden(tape, source, target), labels, options);
  }

  /// Starts decoding. The tape must outlive the state. Reserves `longest` tokens for each of `hypotheses` hypotheses per
  /// sentence.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const {
    const X memory = encode(tape, source);
    std::vector<KeysValues<Device>> memories;
    for (const auto& layer : decoder.layers) memories.push_back(layer.cross_attention.remember(memory, source.rows));
    return State(tape, memories, longest, hypotheses);
  }
  /// Reads the newest token of each active sentence. Returns the states from which the next tokens are predicted.
  X read(Tape<Device>& tape, State& state, const std::vector<Token>& tokens) const {
    const Text text = state.advance(tape, tokens);
    return decoder(target_embedding(tape, text, state.positions()), text.rows, state);
  }

  /// Whether decoding steps can run as CUDA graphs, and those of beam search too (ActiveSentences::begin_beam_graph).
  static constexpr bool supports_graph = attn::supports_graph<typename DecoderSelfPolicy<Attention>::Type>;
  bool supports_graph_beam() const { return supports_graph && shape.width <= widest_listed * shape.heads; }

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

}  // namespace attn
