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

/// What a Transformer is told at run time.
struct TransformerOptions {
  Index source_vocabulary = 0, target_vocabulary = 0;
  TransformerDropout dropout = {};
  bool share_embeddings = false;  // one table for both languages
  bool tie_output = false;        // the output's weights are the target's table
};

/// The Transformer of Vaswani et al. 2017, figure 1. Attention says what the encoder, and the decoder in the encoder's
/// states, looks at; the decoder looks back at itself through full attention. Swap Full<> for Linformer<32> and it is a
/// Linformer.
template <class Device, TransformerShape Shape = TransformerShape{}, class Attention = Full<>, class Norm = PostNorm,
          class Activation = Relu, class Positions = Sinusoidal>
struct Transformer {
  using DeviceType = Device;
  using Options = TransformerOptions;
  static constexpr TransformerShape shape = Shape;
  static constexpr int width = Shape.width;
  using AttentionPolicy = Attention;
  using NormPolicy = Norm;
  using X = Variable<Device, width>;
  using State = TransformerState<Device, width>;
  static constexpr Index longest_text = most_positions<Positions>();         // that it can read or write
  static constexpr bool holds_beams = width <= widest_listed * Shape.heads;  // ActiveSentences::hold_beams
  using Encoder = TransformerEncoder<Device, Shape, Attention, Norm, Activation>;
  using Decoder = TransformerDecoder<Device, Shape, Attention, Norm, Activation>;

  Embedding<Device, width, Positions> source_embedding;  // inputs, with their positions
  Encoder encoder;                                       // N times: self-attention, feed forward
  Embedding<Device, width, Positions> target_embedding;  // outputs shifted right, with their positions
  Decoder decoder;                                       // N times: masked self-attention, cross-attention, feed forward
  Output<Device, width> output;                          // linear, softmax
  bool share_embeddings, tie_output;

  explicit Transformer(const TransformerOptions& options)
      : source_embedding(options.source_vocabulary, options.dropout.residual),
        encoder(options.dropout),
        target_embedding(options.target_vocabulary, options.dropout.residual),
        decoder(options.dropout),
        output(options.target_vocabulary),
        share_embeddings(options.share_embeddings),
        tie_output(options.tie_output) {}
  Transformer(const Transformer&) = delete;  // a copy would share its parameters with the original

  /// Hidden states of the source.
  X encode(Tape<Device>& tape, const Text& source) const {
    return encoder(tape, source_embedding(tape, source), source.rows);
  }

  /// Hidden states of the target, each of which has seen the source and what stands before it.
  X decode(Tape<Device>& tape, const Text& target, X memory, Ragged memory_rows) const {
    return decoder(tape, target_embedding(tape, target), target.rows, memory, memory_rows);
  }

  /// What each of the target's words is predicted from.
  X hidden(Tape<Device>& tape, const Text& source, const Text& target) const {
    const X memory = encode(tape, source);
    return decode(tape, target, memory, source.rows);
  }

  /// The loss of predicting each label from the source and the target before it; added to `sums` if given.
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {},
                    typename Device::Real* sums = nullptr) const {
    const auto [source, target, labels] = upload(tape, batch);
    return output.loss(tape, hidden(tape, source, target), labels, options, sums);
  }

  /// Decoding: what the decoder remembers before the first word, in memory of a tape that outlives the words; with room for
  /// so many hypotheses of each sentence.
  State start(Tape<Device>& tape, const Text& source, Index longest, Index hypotheses = 1) const;
  /// Reads the newest word of each active sentence: what the next one is predicted from.
  X read(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    const Text text = state.advance(tape, words);
    return decoder(tape, target_embedding(tape, text, state.positions()), text.rows, state);
  }
  /// Unnormalised log-probabilities of the next word of each active sentence, given its newest word.
  Matrix<typename Device::Scalar> next(Tape<Device>& tape, State& state, const std::vector<Token>& words) const {
    return state.choices.logits(tape, output, read(tape, state, words));
  }

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
  std::vector<KeysValues<Device, width>> memories;
  for (const auto& layer : decoder.layers) memories.push_back(layer.cross_attention.remember(tape, memory, source.rows));
  return State(tape, memories, longest, hypotheses);
}

}  // namespace attn
