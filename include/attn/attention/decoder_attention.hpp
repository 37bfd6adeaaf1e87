#pragma once
#include "attn/attention/global.hpp"
#include "attn/attention/multi_head.hpp"

namespace attn {

// Attention policies of recurrent decoders: what the decoder attends to, and with which score. Chittersu's models differ in
// this policy.

/// No attention: the decoder knows the source only through its initial states. Sutskever et al. 2014.
struct NoAttention {
  static constexpr bool attends_to_source = false, attends_to_past = false;
  static constexpr int heads = 0;
};

/// Attention with score S and key-value policy M to the encoder's states, and to the decoder's own earlier states if Past.
template <class S, class M, bool Past, int Heads = 0>
struct AttentionToStates {
  using Score = S;
  using KeyValuePolicy = M;
  static constexpr bool attends_to_source = true, attends_to_past = Past;
  static constexpr int heads = Heads;
};

/// Attention to the encoder's states. Bahdanau et al. 2014, Luong et al. 2015.
template <class S, class M = SharedKeyValue>
struct OnEncoder : AttentionToStates<S, M, false> {};

/// Attention to the encoder's states and to the decoder's own earlier states, each with its own parameters.
template <class S, class M = SharedKeyValue>
struct OnEncoderAndPast : AttentionToStates<S, M, true> {};

/// The same on top of self-attention: encoder states first attend to each other, decoder states to earlier ones.
template <int Heads, class S, class M = SharedKeyValue>
struct OnSelfAttention : AttentionToStates<S, M, true, Heads> {};

/// A policy: what the decoder attends to, and the number of self-attention heads (0: no self-attention).
template <class A>
concept DecoderAttentionPolicy = requires {
  {bool(A::attends_to_source)};
  {bool(A::attends_to_past)};
  {int(A::heads)};
};

/// The layer of a policy: decoder states of Width columns attend to source states of Source columns.
template <class Device, int Width, int Source, class Attends>
struct DecoderAttention {
  using X = Variable<Device, Width>;
  using AtSource = GlobalAttention<Device, Width, Source, typename Attends::Score, typename Attends::KeyValuePolicy>;
  using Back = GlobalAttention<Device, Width, Width, typename Attends::Score, typename Attends::KeyValuePolicy>;
  static constexpr bool kHeads = Attends::heads > 0;
  static constexpr int kHeadCount = kHeads ? Attends::heads : 1;
  template <bool There, class Layer>
  using If = std::conditional_t<There, Layer, NoLayer>;

  static constexpr int source_width = AtSource::value_width, past_width = Attends::attends_to_past ? Back::value_width : 0;
  static constexpr int width = total(source_width, past_width);  // of all contexts
  /// Keys and values of the source, with More columns appended to the values.
  template <int More = 0>
  using SourceKeysValues = KeysValues<Device, AtSource::width, total(source_width, More)>;

  If<kHeads, MultiHead<Device, Source, kHeadCount>> source_heads;
  If<kHeads, MultiHead<Device, Width, kHeadCount, Full<>, Mask::causal>> past_heads;
  AtSource encoder;
  If<Attends::attends_to_past, Back> past;

  DecoderAttention(Size<Width> width, Size<Source> source)
      : source_heads(AttentionShape{source, kHeadCount}),
        past_heads(AttentionShape{width, kHeadCount}),
        encoder(width, source),
        past(width, width) {}

  /// Columns of all contexts.
  Index columns() const {
    if constexpr (Attends::attends_to_past) return encoder.values + past.values;
    return encoder.values;
  }

  /// The decoder's earlier states, during decoding.
  struct Past {
    If<kHeads, KeyValueCache<Device>> heads;
    If<Attends::attends_to_past, KeyValueCache<Device>> states;

    Past(auto&&...) requires(!Attends::attends_to_past) {}
    Past(Tape<Device>& tape, const CacheLayout& layout, const DecoderAttention& attention,
         Index width) requires(Attends::attends_to_past)
        : heads(construct<decltype(heads)>(tape, layout, width, width)),
          states(tape, layout, attention.past.compared, attention.past.values) {}
  };

  SourceKeysValues<> remember(Variable<Device, Source> states, Ragged rows) const {
    if constexpr (kHeads) states = source_heads(states, rows);
    return encoder.remember(states, rows);
  }

  /// The source context of each state. It is wider than source_width if columns were appended to the values.
  template <int Value>
  Variable<Device, Value> at_source(X h, Ragged rows, KeysValues<Device, AtSource::width, Value> source) const {
    return encoder(h, rows, source);
  }

  /// The context of the states before each state. `earlier` is the layout of the states without each sentence's last. In
  /// decoding, h holds the newest state of each sentence and `before` the earlier ones.
  Variable<Device, past_width> back(X h, Ragged rows, Ragged earlier, Past* before) const
      requires(Attends::attends_to_past) {
    X seen = h;
    if constexpr (kHeads) seen = past_heads(h, rows, before != nullptr ? &before->heads : nullptr);
    typename Back::SourceKeysValues memory = past.remember(seen, before != nullptr ? rows : earlier);
    if (before != nullptr) memory = before->states.append(memory), memory.rows = earlier;
    return past(h, rows, memory, true);
  }

  void for_each_parameter(auto&& visit) {
    if constexpr (kHeads) visit("source_heads", source_heads), visit("past_heads", past_heads);
    visit("encoder", encoder);
    if constexpr (Attends::attends_to_past) visit("past", past);
  }
};

template <class Device, int Width, int Source>
struct DecoderAttention<Device, Width, Source, NoAttention> {
  static constexpr int width = 0;
  template <int = 0>
  using SourceKeysValues = NoLayer;
  using Past = NoLayer;
  DecoderAttention(auto&&...) {}
  Index columns() const { return 0; }
  void for_each_parameter(auto&&) {}
};

}  // namespace attn
