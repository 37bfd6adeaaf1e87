#pragma once
#include "attn/attention/score.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

// An attention policy says which keys and values a layer attends to, and how it scores them:
//
//   using Score                how a query and a key match (attention/score.hpp)
//   causal_allowed             whether it can mask the future, so that a decoder may use it on its own past
//   LengthProjection<D, W, H>  a layer that maps keys and values to those that are attended to:
//                              KeysValues operator()(KeysValues) const. Constructed from an AttentionShape, or from nothing
//   QueryKey<D, W, H>          optional: a layer that changes the queries and keys of self-attention, such as Rope's. Constructed from an
//                              AttentionShape; has  query(q, rows, first)  and  key(k, rows, first), where rows are q's or k's sentences
//                              and first is the position of each sentence's first row
//   using DecoderSelf          optional: the policy of a decoder's self-attention; Full<> without it
//   looks_at_positions         true if keys are single positions: attention maps then name their words. Without it they are
//                              numbered

/// The sizes of multi-head attention. A Linformer whose type does not say them takes k and n from here.
struct AttentionShape {
  int width = 0, heads = 0;
  int linformer_k = 0, linformer_n = 0;
  int key_value_heads =
      0;  // grouped-query attention: heads that share keys and values are heads / key_value_heads; 0: none share

  constexpr int kv_heads() const { return key_value_heads > 0 ? key_value_heads : heads; }
  constexpr int key_width() const { return width / heads * kv_heads(); }
};

/// An Error unless heads divide the width, and heads of keys and values those of queries.
inline const AttentionShape& checked(const AttentionShape& shape) {
  require(shape.heads > 0 && shape.width % shape.heads == 0, "MultiHead: a width of ", shape.width,
          " is not a multiple of ", shape.heads, " heads");
  require(shape.kv_heads() > 0 && shape.heads % shape.kv_heads() == 0, "MultiHead: ", shape.heads, " heads cannot share ",
          shape.kv_heads(), " heads of keys and values evenly");
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

/// Looks at every key and value as it is.
template <class S = ScaledDot>
struct Full {
  using Score = S;
  static constexpr bool causal_allowed = true, looks_at_positions = true;

  template <class Device, int Width, int Heads>
  struct LengthProjection {
    KeysValues<Device> operator()(KeysValues<Device> all) const { return all; }
    void for_each_parameter(auto&&) {}
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
