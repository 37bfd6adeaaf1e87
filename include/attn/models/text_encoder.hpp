#pragma once
#include "attn/models/transformer_layers.hpp"
#include "attn/nn/embedding.hpp"

namespace attn {

struct TextEncoderOptions {
  Index vocabulary = 0;
  TransformerDropout dropout = {};
  TransformerShape shape = base_shape;  // if the type is dynamic_shape
};

/// The Transformer encoder alone: from token ids to hidden states. Add your own head.
template <class Device, TransformerShape Shape = dynamic_shape, class Attention = Full<>, class Norm = PostNorm,
          class Activation = Relu, class Positions = Sinusoidal>
struct TextEncoder {
  using DeviceType = Device;
  using Options = TextEncoderOptions;

  TransformerShape shape;
  Embedding<Device, Shape.width, Positions> embedding;
  TransformerEncoder<Device, Shape, Attention, Norm, Activation> encoder;

  explicit TextEncoder(const TextEncoderOptions& options)
      : shape(resolve_shape(Shape, options.shape)),
        embedding(options.vocabulary, shape.width, options.dropout.residual),
        encoder(layer_count(shape.encoder_layers, "encoder"), shape, options.dropout) {}

  Variable<Device, Shape.width> operator()(Tape<Device>& tape, const Text& text) const {
    return encoder(embedding(tape, text), text.rows);
  }

  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("encoder", encoder);
  }
};

}  // namespace attn
