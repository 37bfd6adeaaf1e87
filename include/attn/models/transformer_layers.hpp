#pragma once
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

/// A layer: self-attention, in the decoder of a Transformer (Cross) attention to the source, then feed forward.
template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation, Mask Masking, bool Cross>
struct TransformerLayer {
  using X = Variable<Device, Shape.width>;
  using SelfPolicy = std::conditional_t<Cross, typename DecoderSelfPolicy<Attention>::Type, Attention>;
  using CrossAttention = MultiHead<Device, Shape.width, Shape.heads, typename CrossPolicy<Attention>::Type>;

  MultiHead<Device, Shape.width, Shape.heads, SelfPolicy, Masking> attention;
  Residual<Device, Shape.width, Norm> attention_norm;
  std::conditional_t<Cross, CrossAttention, NoLayer> cross_attention;
  std::conditional_t<Cross, Residual<Device, Shape.width, Norm>, NoLayer> cross_norm;
  FeedForwardOf<Activation, Device, Shape.width, Shape.inner> feed_forward;
  Residual<Device, Shape.width, Norm> feed_forward_norm;

  explicit TransformerLayer(const TransformerShape& shape, const TransformerDropout& dropout)
      : attention(shape.attention(), dropout.attention),
        attention_norm(shape.width, dropout.residual),
        cross_attention(shape.attention(), dropout.attention),
        cross_norm(shape.width, dropout.residual),
        feed_forward(shape.width, shape.inner, dropout.activation),
        feed_forward_norm(shape.width, dropout.residual) {}

  /// x: the rows of whole sentences or, with a past, of each sentence's newest tokens. source: the keys and values that
  /// cross-attention sees.
  X operator()(X x, Ragged rows, KeyValueCache<Device>* past,
               [[maybe_unused]] const KeysValues<Device>& source = {}) const {
    x = attention_norm(x, [&](X in) { return attention(in, rows, past); });
    if constexpr (Cross) x = cross_norm(x, [&](X in) { return cross_attention(in, rows, source); });
    return feed_forward_norm(x, feed_forward);
  }

  void for_each_parameter(auto&& visit) {
    visit(Cross ? "self_attention" : "attention", attention);
    visit(Cross ? "self_norm" : "attention_norm", attention_norm);
    if constexpr (Cross) visit("cross_attention", cross_attention), visit("cross_norm", cross_norm);
    visit("feed_forward", feed_forward);
    visit("feed_forward_norm", feed_forward_norm);
  }
  void share(auto&& visit, TransformerLayer& first) {
    attention.share(visit, first.attention);
    if constexpr (Cross) cross_attention.share(visit, first.cross_attention);
  }
};

/// A stack of these layers with the policy's final norm.
template <class Device, TransformerShape Shape, int Layers, class Attention, class Norm, class Activation, Mask Masking,
          bool Cross = false>
struct TransformerStack {
  using X = Variable<Device, Shape.width>;

  Stack<TransformerLayer<Device, Shape, Attention, Norm, Activation, Masking, Cross>, Layers> layers;
  typename Norm::template Final<Device, Shape.width> norm;

  TransformerStack(Size<Layers> count, const TransformerShape& shape, const TransformerDropout& dropout)
      : layers(count, shape, dropout), norm(shape.width) {}

  /// With one past per layer, x holds the newest tokens of each sentence.
  X operator()(X x, Ragged rows, std::span<KeyValueCache<Device>> pasts = {}) const requires(!Cross) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      x.tape().begin_layer(layers[i]);
      x = layers[i](x, rows, pasts.empty() ? nullptr : &pasts[i]);
    }
    return norm(x);
  }
  X operator()(X x, Ragged rows, X source, Ragged source_rows) const requires(Cross) {
    for (const auto& layer : layers) {
      x.tape().begin_layer(layer);
      x = layer(x, rows, nullptr, layer.cross_attention.remember(source, source_rows));
    }
    return norm(x);
  }
  /// The same for one token per sentence.
  X operator()(X x, Ragged rows, TransformerState<Device>& state) const requires(Cross) {
    for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i](x, rows, state.past(i), state.memory(i));
    return norm(x);
  }

  void for_each_parameter(auto&& visit) {
    visit("layers", layers);
    visit("norm", norm);
  }
};

template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation = Relu>
using TransformerEncoder = TransformerStack<Device, Shape, Shape.encoder_layers, Attention, Norm, Activation, Mask::none>;
template <class Device, TransformerShape Shape, class Attention, class Norm, class Activation = Relu>
using TransformerDecoder =
    TransformerStack<Device, Shape, Shape.decoder_layers, Attention, Norm, Activation, Mask::causal, true>;

}  // namespace attn
