#pragma once
#include "attn/models/transformer_layers.hpp"
#include "attn/nn/embedding.hpp"

namespace attn {

/// What a TextEncoder is told at run time.
struct TextEncoderOptions {
  Index vocabulary = 0;
  TransformerDropout dropout = {};
};

/// The Transformer's encoder alone: from token ids to hidden states. What stands on top of them is up to its user.
template <class Device, TransformerShape Shape = TransformerShape{}, class Attention = Full<>, class Norm = PostNorm,
          class Activation = Relu, class Positions = Sinusoidal>
struct TextEncoder {
  using DeviceType = Device;
  using Options = TextEncoderOptions;

  Embedding<Device, Shape.width, Positions> embedding;
  TransformerEncoder<Device, Shape, Attention, Norm, Activation> encoder;

  explicit TextEncoder(const TextEncoderOptions& options)
      : embedding(options.vocabulary, options.dropout.residual), encoder(options.dropout) {}

  Variable<Device, Shape.width> operator()(Tape<Device>& tape, const Text& text) const {
    return encoder(tape, embedding(tape, text), text.rows);
  }

  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("encoder", encoder);
  }
};

}  // namespace attn
