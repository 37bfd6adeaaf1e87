#pragma once
#include "attn/attention/score.hpp"

namespace attn {

// An attention policy defines which keys and values a layer attends to, and how it scores them:
//
//   using Score                the score of a query and a key (attention/score.hpp)
//   causal_allowed             whether it supports a causal mask, which a decoder's self-attention needs
//   LengthProjection<D, W, H>  a layer that maps all keys and values to those that are attended to:
//                              KeysValues operator()(KeysValues) const. Constructible from an AttentionShape, or by default
//   QueryKey<D, W, H>          optional: a layer that transforms the queries and keys of self-attention, as in Rope.
//                              Constructible from an AttentionShape. Has  query(q, rows, first)  and  key(k, rows, first):
//                              rows is the layout of q or k, first the position of each sentence's first row. An optional
//                              attend(q, rows, memory, options)  replaces attention(), as in RelativeBias. Cross-attention
//                              does not use it
//   using DecoderSelf          optional: the policy of a decoder's self-attention; default Full<>
//   supports_graph             optional: false if attend() uploads or downloads, so that decoding steps cannot run as CUDA
//                              graphs
//   keys_are_positions         true if keys are single positions: attention maps then label them with tokens. Otherwise
//                              they are numbered

/// The sizes of multi-head attention. A Linformer with `dynamic` sizes takes k and n from here.
struct AttentionShape {
  int width = 0, heads = 0;
  int linformer_k = 0, linformer_n = 0;
  int key_value_heads = 0;  // for grouped-query attention; 0: the same as heads
  int rope_base = 10000;

  constexpr int kv_heads() const { return key_value_heads > 0 ? key_value_heads : heads; }
  constexpr int key_width() const { return width / heads * kv_heads(); }
};

/// Throws an Error unless the width is a multiple of the heads, and these a multiple of the key-value heads.
inline const AttentionShape& checked(const AttentionShape& shape) {
  require(shape.heads > 0 && shape.width % shape.heads == 0, "MultiHead: a width of ", shape.width,
          " is not a multiple of ", shape.heads, " heads");
  require(shape.kv_heads() > 0 && shape.heads % shape.kv_heads() == 0, "MultiHead: ", shape.heads,
          " heads are not a multiple of ", shape.kv_heads(), " heads of keys and values");
  return shape;
}

template <class Policy>
concept HasScore = requires {
  typename Policy::Score;
};
template <class Policy>
concept HasMultiHeadScore = requires {
  requires MultiHeadScore<typename Policy::Score>;
};
template <class Policy>
concept SaysCausal = requires {
  { Policy::causal_allowed } -> std::convertible_to<bool>;
};
template <class Policy, class Device, int Width, int Heads>
concept HasLengthProjection = requires(const typename Policy::template LengthProjection<Device, Width, Heads>& memory,
                                       KeysValues<Device> kv) {
  { memory(kv) } -> std::convertible_to<KeysValues<Device>>;
};

template <class Policy, class Device, int Width, int Heads>
concept AttentionPolicy =
    HasMultiHeadScore<Policy> && SaysCausal<Policy> && HasLengthProjection<Policy, Device, Width, Heads>;

/// Whether decoding steps with this policy can run as CUDA graphs.
template <class Policy>
inline constexpr bool supports_graph = !requires {
  requires !Policy::supports_graph;
};

/// Attends to all keys and values, unchanged.
template <class S = ScaledDot>
struct Full {
  using Score = S;
  static constexpr bool causal_allowed = true, keys_are_positions = true;

  template <class Device, int Width, int Heads>
  struct LengthProjection {
    KeysValues<Device> operator()(KeysValues<Device> all) const { return all; }
    void for_each_parameter(auto&&) {}
  };
};

/// The policy of cross-attention: the same without QueryKey.
template <class Policy>
struct CrossPolicy {
  using Type = Policy;
};
template <class Policy>
requires requires { typename Policy::template QueryKey<Cpu<float>, dynamic, dynamic>; }
struct CrossPolicy<Policy> {
  struct Type : Policy {
    using QueryKey = void;  // hides it
  };
};

/// The policy of a decoder's self-attention.
template <class Policy>
struct DecoderSelfPolicy {
  using Type = Full<>;
};
template <class Policy>
requires requires { typename Policy::DecoderSelf; }
struct DecoderSelfPolicy<Policy> {
  using Type = typename Policy::DecoderSelf;
};

}  // namespace attn
