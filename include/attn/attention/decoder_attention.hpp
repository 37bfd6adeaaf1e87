#pragma once
#include <type_traits>

#include "attn/attention/global.hpp"
#include "attn/attention/multi_head.hpp"

namespace attn {

// Where the decoder of a recurrent model looks, and how it scores what it sees. Chittersu's models, one word apart.

/// Nowhere: all it knows of the source are the states it starts with. Sutskever et al. 2014.
struct NoAttention {
  static constexpr bool attends_to_source = false, attends_to_past = false;
  static constexpr int heads = 0;
};

/// At the encoder's states. Bahdanau et al. 2014, Luong et al. 2015.
template <class S, class M = States>
struct OnEncoder {
  using Score = S;
  using KeyValuePolicy = M;
  static constexpr bool attends_to_source = true, attends_to_past = false;
  static constexpr int heads = 0;
};

/// At the encoder's states and at the decoder's own earlier ones, with weights of their own each.
template <class S, class M = States>
struct OnEncoderAndPast {
  using Score = S;
  using KeyValuePolicy = M;
  static constexpr bool attends_to_source = true, attends_to_past = true;
  static constexpr int heads = 0;
};

/// The same on top of self-attention: what is looked at are states that have looked around among themselves, the encoder's
/// everywhere, the decoder's back.
template <int Heads, class S, class M = States>
struct OnSelfAttention {
  using Score = S;
  using KeyValuePolicy = M;
  static constexpr bool attends_to_source = true, attends_to_past = true;
  static constexpr int heads = Heads;
};

/// What such a policy says: where the decoder looks, and with how many heads states look around first.
template <class A>
concept DecoderAttentionPolicy = requires {
  {bool(A::attends_to_source)};
  {bool(A::attends_to_past)};
  {int(A::heads)};
};

/// The layer that such a policy describes: Width columns of the decoder's state look at a source of Source columns.
template <class Device, int Width, int Source, class Attends>
struct DecoderAttention {
  using X = Variable<Device, Width>;
  using AtSource = GlobalAttention<Device, Width, Source, typename Attends::Score, typename Attends::KeyValuePolicy>;
  using Back = GlobalAttention<Device, Width, Width, typename Attends::Score, typename Attends::KeyValuePolicy>;
  static constexpr bool kHeads = Attends::heads > 0;
  static constexpr int kHeadCount = kHeads ? Attends::heads : 1;
  struct Nothing {};
  template <bool There, class Layer>
  using If = std::conditional_t<There, Layer, Nothing>;

  static constexpr int source_width = AtSource::value_width, past_width = Attends::attends_to_past ? Back::value_width : 0;
  static constexpr int width = source_width + past_width;  // of all contexts
  /// What it looks at in the source, with More columns joined to the values.
  template <int More = 0>
  using Seen = KeysValues<Device, AtSource::width, source_width + More>;

  If<kHeads, MultiHead<Device, Source, kHeadCount>> source_heads;
  If<kHeads, MultiHead<Device, Width, kHeadCount, Full<>, Mask::causal>> past_heads;
  AtSource encoder;
  If<Attends::attends_to_past, Back> past;

  /// What the decoder has been through, while it writes.
  struct Past {
    If<kHeads, KeyValueCache<Device>> heads;
    If<Attends::attends_to_past, KeyValueCache<Device>> states;

    Past(Tape<Device>& tape, const CacheLayout& layout)
        : heads(make<decltype(heads)>(tape, layout, Width, Width)),
          states(make<decltype(states)>(tape, layout, Back::width, Back::value_width)) {}

   private:
    template <class Cache>
    static Cache make(Tape<Device>& tape, const CacheLayout& layout, Index keys, Index values) {
      if constexpr (std::is_same_v<Cache, Nothing>)
        return {};
      else
        return Cache(tape, layout, keys, values);
    }
  };

  /// What there is to see in the source.
  Seen<> remember(Variable<Device, Source> states, Ragged rows) const {
    if constexpr (kHeads) states = source_heads(states, rows);
    return encoder.remember(states, rows);
  }

  /// The source's context of each state; wider than source_width where values were joined with others.
  template <int Value>
  Variable<Device, Value> at_source(X h, Ragged rows, KeysValues<Device, AtSource::width, Value> source) const {
    return encoder(h, rows, source);
  }

  /// The context of what went before each state. `earlier` is the layout of the states without each sentence's last; in
  /// decoding h holds the newest state of each sentence, and the past what went before.
  Variable<Device, past_width> back(X h, Ragged rows, Ragged earlier, Past* before) const
      requires(Attends::attends_to_past) {
    X seen = h;
    if constexpr (kHeads) seen = past_heads(h, rows, before != nullptr ? &before->heads : nullptr);
    typename Back::Seen memory = past.remember(seen, before != nullptr ? rows : earlier);
    if (before != nullptr) memory = before->states.append(memory), memory.rows = earlier;
    return past(h, rows, memory, true);
  }

  void for_each_parameter(auto&& visit) {
    if constexpr (kHeads) visit("source_heads", source_heads), visit("past_heads", past_heads);
    visit("encoder", encoder);
    if constexpr (Attends::attends_to_past) visit("past", past);
  }
};

/// A decoder that looks nowhere.
template <class Device, int Width, int Source>
struct DecoderAttention<Device, Width, Source, NoAttention> {
  static constexpr int width = 0;
  struct Nothing {};
  template <int = 0>
  using Seen = Nothing;
  struct Past {
    Past(Tape<Device>&, const CacheLayout&) {}
  };
  void for_each_parameter(auto&&) {}
};

}  // namespace attn
