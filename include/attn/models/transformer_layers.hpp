#pragma once
#include <span>

#include "attn/attention/multi_head.hpp"
#include "attn/models/transformer_state.hpp"
#include "attn/nn/feed_forward.hpp"
#include "attn/nn/residual.hpp"
#include "attn/nn/stack.hpp"

namespace attn {

/// The sizes of a Transformer, as a template argument. The default is the paper's base model.
struct TransformerShape {
  int encoder_layers = 6, decoder_layers = 6;
  int width = 512, heads = 8, inner = 2048;
};

inline constexpr TransformerShape base_shape{};
inline constexpr TransformerShape small_shape{
    .encoder_layers = 2, .decoder_layers = 2, .width = 128, .heads = 2, .inner = 512};
inline constexpr TransformerShape medium_shape{
    .encoder_layers = 4, .decoder_layers = 4, .width = 256, .heads = 4, .inner = 1024};
inline constexpr TransformerShape big_shape{
    .encoder_layers = 6, .decoder_layers = 6, .width = 1024, .heads = 16, .inner = 4096};

/// Dropout rates: of embeddings and of each sub-layer's output, of attention weights, of the feed-forward's inner
/// activations.
struct TransformerDropout {
  float residual = 0.1f, attention = 0, activation = 0;
};

/// Self-attention, then feed forward: a layer of an encoder, or, causal, of a decoder that has nothing but itself to look at.
template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation, Mask Masking>
struct SelfAttentionLayer {
  using X = Variable<Device, Shape.width>;

  MultiHead<Device, Shape.width, Shape.heads, Attention, Masking> attention;
  Residual<Device, Shape.width, Norm> attention_norm;
  FeedForward<Device, Shape.width, Shape.inner, Activation> feed_forward;
  Residual<Device, Shape.width, Norm> feed_forward_norm;

  explicit SelfAttentionLayer(const TransformerDropout& dropout)
      : attention(dropout.attention),
        attention_norm(dropout.residual),
        feed_forward(dropout.activation),
        feed_forward_norm(dropout.residual) {}

  /// x: the rows of whole sentences; or, with a past, of each sentence's newest words.
  X operator()(Tape<Device>& tape, X x, Ragged rows, KeyValueCache<Device, Shape.width>* past = nullptr) const {
    x = attention_norm(tape, x, [&](X in) { return attention(tape, in, rows, past); });
    return feed_forward_norm(tape, x, [&](X in) { return feed_forward(tape, in); });
  }

  void for_each_parameter(auto&& visit) {
    visit("attention", attention);
    visit("attention_norm", attention_norm);
    visit("feed_forward", feed_forward);
    visit("feed_forward_norm", feed_forward_norm);
  }
  void share(auto&& visit, SelfAttentionLayer& first) requires requires { attention.share(visit, first.attention); }
  { attention.share(visit, first.attention); }
};

/// So many such layers, and what normalises their end.
template <class Device, TransformerShape Shape, int Layers, class Attention, class Norm, class Activation, Mask Masking>
struct SelfAttentionStack {
  using X = Variable<Device, Shape.width>;
  using Past = KeyValueCache<Device, Shape.width>;

  Stack<SelfAttentionLayer<Device, Shape, Attention, Norm, Activation, Masking>, Layers> layers;
  typename Norm::template Final<Device, Shape.width> norm;

  explicit SelfAttentionStack(const TransformerDropout& dropout) : layers(dropout) {}

  /// With pasts, one a layer: of sentences whose newest words x holds.
  X operator()(Tape<Device>& tape, X x, Ragged rows, std::span<Past> pasts = {}) const {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      tape.begin_layer(layers[i]);
      x = layers[i](tape, x, rows, pasts.empty() ? nullptr : &pasts[i]);
    }
    return norm(tape, x);
  }

  void for_each_parameter(auto&& visit) {
    visit("layers", layers);
    visit("norm", norm);
  }
};

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation = Relu>
using TransformerEncoder = SelfAttentionStack<Device, Shape, Shape.encoder_layers, Attention, Norm, Activation, Mask::none>;

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation>
struct TransformerDecoderLayer {
  using X = Variable<Device, Shape.width>;

  MultiHead<Device, Shape.width, Shape.heads, Full<>, Mask::causal> self_attention;
  Residual<Device, Shape.width, Norm> self_norm;
  MultiHead<Device, Shape.width, Shape.heads, Attention> cross_attention;
  Residual<Device, Shape.width, Norm> cross_norm;
  FeedForward<Device, Shape.width, Shape.inner, Activation> feed_forward;
  Residual<Device, Shape.width, Norm> feed_forward_norm;

  explicit TransformerDecoderLayer(const TransformerDropout& dropout)
      : self_attention(dropout.attention),
        self_norm(dropout.residual),
        cross_attention(dropout.attention),
        cross_norm(dropout.residual),
        feed_forward(dropout.activation),
        feed_forward_norm(dropout.residual) {}

  /// x: the rows of whole sentences; or, with a past, of each sentence's newest word.
  X operator()(Tape<Device>& tape, X x, Ragged rows, const KeysValues<Device, Shape.width>& memory,
               KeyValueCache<Device, Shape.width>* past = nullptr) const {
    x = self_norm(tape, x, [&](X in) { return self_attention(tape, in, rows, past); });
    x = cross_norm(tape, x, [&](X in) { return cross_attention(tape, in, rows, memory); });
    return feed_forward_norm(tape, x, [&](X in) { return feed_forward(tape, in); });
  }

  void for_each_parameter(auto&& visit) {
    visit("self_attention", self_attention);
    visit("self_norm", self_norm);
    visit("cross_attention", cross_attention);
    visit("cross_norm", cross_norm);
    visit("feed_forward", feed_forward);
    visit("feed_forward_norm", feed_forward_norm);
  }
  void share(auto&& visit, TransformerDecoderLayer& first) requires requires {
    cross_attention.share(visit, first.cross_attention);
  }
  { cross_attention.share(visit, first.cross_attention); }
};

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation = Relu>
struct TransformerDecoder {
  using X = Variable<Device, Shape.width>;

  Stack<TransformerDecoderLayer<Device, Shape, Attention, Norm, Activation>, Shape.decoder_layers> layers;
  typename Norm::template Final<Device, Shape.width> norm;

  explicit TransformerDecoder(const TransformerDropout& dropout) : layers(dropout) {}

  X operator()(Tape<Device>& tape, X x, Ragged rows, X memory, Ragged memory_rows) const {
    for (const auto& layer : layers) {
      tape.begin_layer(layer);
      x = layer(tape, x, rows, layer.cross_attention.remember(tape, memory, memory_rows));
    }
    return norm(tape, x);
  }
  /// The same, one word of each sentence at a time.
  X operator()(Tape<Device>& tape, X x, Ragged rows, TransformerState<Device, Shape.width>& state) const {
    for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i](tape, x, rows, state.memory(i), state.past(i));
    return norm(tape, x);
  }

  void for_each_parameter(auto&& visit) {
    visit("layers", layers);
    visit("norm", norm);
  }
};

}  // namespace attn
