#pragma once
#include <span>
#include <vector>

#include "attn/models/active_sentences.hpp"
#include "attn/models/transformer_shape.hpp"
#include "attn/nn/feed_forward.hpp"
#include "attn/nn/residual.hpp"
#include "attn/nn/stack.hpp"

namespace attn {

/// The decoding state of a Transformer: the keys and values of the source, computed once, and of the tokens so far. It lives
/// in memory of the tape it was made on.
template <class Device>
class TransformerState : public ActiveSentences<Device> {
 public:
  /// memories: the source's keys and values for each decoder layer.
  TransformerState(Tape<Device>& tape, const std::vector<KeysValues<Device>>& memories, Index capacity, Index hypotheses)
      : ActiveSentences<Device>(tape, rows_of(memories), capacity, hypotheses), memories_(memories) {
    for (const auto& memory : memories) past_.emplace_back(tape, this->layout(), memory.keys.cols(), memory.keys.cols());
  }

  /// What a layer attends to in the step that advance() started: the source, and the tokens so far.
  KeysValues<Device> memory(std::size_t layer) const {
    return {memories_[layer].keys, memories_[layer].values, this->source(layer)};
  }
  KeyValueCache<Device>* past(std::size_t layer) { return &past_[layer]; }

 private:
  static std::vector<Ragged> rows_of(const std::vector<KeysValues<Device>>& memories) {
    std::vector<Ragged> rows;
    for (const auto& memory : memories) rows.push_back(memory.rows);
    return rows;
  }

  std::vector<KeysValues<Device>> memories_;
  std::vector<KeyValueCache<Device>> past_;
};

/// Self-attention, then feed forward: a layer of an encoder or, with a causal mask, of a decoder without cross-attention.
template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation, Mask Masking>
struct SelfAttentionLayer {
  using X = Variable<Device, Shape.width>;

  MultiHead<Device, Shape.width, Shape.heads, Attention, Masking> attention;
  Residual<Device, Shape.width, Norm> attention_norm;
  FeedForwardOf<Activation, Device, Shape.width, Shape.inner> feed_forward;
  Residual<Device, Shape.width, Norm> feed_forward_norm;

  explicit SelfAttentionLayer(const TransformerShape& shape, const TransformerDropout& dropout)
      : attention(shape.attention(), dropout.attention),
        attention_norm(shape.width, dropout.residual),
        feed_forward(shape.width, shape.inner, dropout.activation),
        feed_forward_norm(shape.width, dropout.residual) {}

  /// x: the rows of whole sentences or, with a past, of each sentence's newest tokens.
  X operator()(X x, Ragged rows, KeyValueCache<Device>* past = nullptr) const {
    x = attention_norm(x, [&](X in) { return attention(in, rows, past); });
    return feed_forward_norm(x, feed_forward);
  }

  void for_each_parameter(auto&& visit) {
    visit("attention", attention);
    visit("attention_norm", attention_norm);
    visit("feed_forward", feed_forward);
    visit("feed_forward_norm", feed_forward_norm);
  }
  void share(auto&& visit, SelfAttentionLayer& first) { attention.share(visit, first.attention); }
};

/// A stack of these layers with the policy's final norm.
template <class Device, TransformerShape Shape, int Layers, class Attention, class Norm, class Activation, Mask Masking>
struct SelfAttentionStack {
  using X = Variable<Device, Shape.width>;
  using Past = KeyValueCache<Device>;

  Stack<SelfAttentionLayer<Device, Shape, Attention, Norm, Activation, Masking>, Layers> layers;
  typename Norm::template Final<Device, Shape.width> norm;

  SelfAttentionStack(Size<Layers> count, const TransformerShape& shape, const TransformerDropout& dropout)
      : layers(count, shape, dropout), norm(shape.width) {}

  /// With one past per layer, x holds the newest tokens of each sentence.
  X operator()(X x, Ragged rows, std::span<Past> pasts = {}) const {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      x.tape().begin_layer(layers[i]);
      x = layers[i](x, rows, pasts.empty() ? nullptr : &pasts[i]);
    }
    return norm(x);
  }

  void for_each_parameter(auto&& visit) {
    visit("layers", layers);
    visit("norm", norm);
  }
};

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation = Relu>
using TransformerEncoder = SelfAttentionStack<Device, Shape, Shape.encoder_layers, Attention, Norm, Activation, Mask::none>;

/// Causal self-attention, cross-attention, feed forward.
template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation>
struct TransformerDecoderLayer {
  using X = Variable<Device, Shape.width>;

  MultiHead<Device, Shape.width, Shape.heads, typename DecoderSelfPolicy<Attention>::Type, Mask::causal> self_attention;
  Residual<Device, Shape.width, Norm> self_norm;
  MultiHead<Device, Shape.width, Shape.heads, typename CrossPolicy<Attention>::Type> cross_attention;
  Residual<Device, Shape.width, Norm> cross_norm;
  FeedForwardOf<Activation, Device, Shape.width, Shape.inner> feed_forward;
  Residual<Device, Shape.width, Norm> feed_forward_norm;

  explicit TransformerDecoderLayer(const TransformerShape& shape, const TransformerDropout& dropout)
      : self_attention(shape.attention(), dropout.attention),
        self_norm(shape.width, dropout.residual),
        cross_attention(shape.attention(), dropout.attention),
        cross_norm(shape.width, dropout.residual),
        feed_forward(shape.width, shape.inner, dropout.activation),
        feed_forward_norm(shape.width, dropout.residual) {}

  /// x: the rows of whole sentences or, with a past, of each sentence's newest token.
  X operator()(X x, Ragged rows, const KeysValues<Device>& memory, KeyValueCache<Device>* past = nullptr) const {
    x = self_norm(x, [&](X in) { return self_attention(in, rows, past); });
    x = cross_norm(x, [&](X in) { return cross_attention(in, rows, memory); });
    return feed_forward_norm(x, feed_forward);
  }

  void for_each_parameter(auto&& visit) {
    visit("self_attention", self_attention);
    visit("self_norm", self_norm);
    visit("cross_attention", cross_attention);
    visit("cross_norm", cross_norm);
    visit("feed_forward", feed_forward);
    visit("feed_forward_norm", feed_forward_norm);
  }
  void share(auto&& visit, TransformerDecoderLayer& first) {
    self_attention.share(visit, first.self_attention);
    cross_attention.share(visit, first.cross_attention);
  }
};

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation = Relu>
struct TransformerDecoder {
  using X = Variable<Device, Shape.width>;

  Stack<TransformerDecoderLayer<Device, Shape, Attention, Norm, Activation>, Shape.decoder_layers> layers;
  typename Norm::template Final<Device, Shape.width> norm;

  TransformerDecoder(const TransformerShape& shape, const TransformerDropout& dropout)
      : layers(layer_count(shape.decoder_layers, "decoder"), shape, dropout), norm(shape.width) {}

  X operator()(X x, Ragged rows, X memory, Ragged memory_rows) const {
    for (const auto& layer : layers) {
      x.tape().begin_layer(layer);
      x = layer(x, rows, layer.cross_attention.remember(memory, memory_rows));
    }
    return norm(x);
  }
  /// The same for one token per sentence.
  X operator()(X x, Ragged rows, TransformerState<Device>& state) const {
    for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i](x, rows, state.memory(i), state.past(i));
    return norm(x);
  }

  void for_each_parameter(auto&& visit) {
    visit("layers", layers);
    visit("norm", norm);
  }
};

}  // namespace attn
