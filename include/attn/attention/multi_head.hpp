#pragma once
#include "attn/attention/cache.hpp"
#include "attn/attention/policy.hpp"
#include "attn/nn/linear.hpp"

namespace attn {

enum class Mask { none, causal };  // attention to every position, or to the own and those before it

/// Heads that each look at a sentence through their own projections:
///
///     y = concat(head₁, ..., headₕ) Wₒ,   headᵢ = attention(x Wqᵢ, m Wkᵢ, m Wvᵢ)
///
/// where m is x itself (self-attention) or another text (cross-attention), and Policy says what of m is looked at and how.
/// Vaswani et al. 2017, section 3.2.2; torch.nn.MultiheadAttention.
template <class Device, int Width, int Heads, class Policy = Full<>, Mask Masking = Mask::none>
struct MultiHead {
  static_assert(Heads > 0 && Width % Heads == 0, "attn: MultiHead: width must be a multiple of heads");
  static_assert(HasScore<Policy>, "attn: an attention policy needs  using Score");
  static_assert(
      !HasScore<Policy> || HasMultiHeadScore<Policy>,
      "attn: a score of multi-head attention needs  static double scale(int width): it is scale * q · k and learns "
      "nothing; scores that learn are for global attention");
  static_assert(SaysCausal<Policy>, "attn: an attention policy needs  static constexpr bool causal_allowed");
  static_assert(
      HasLengthProjection<Policy, Device, Width, Heads>,
      "attn: an attention policy needs  LengthProjection<Device, Width, Heads>  with  KeysValues operator()(Tape&, "
      "KeysValues) const");
  static_assert(Masking == Mask::none || Policy::causal_allowed,
                "attn: MultiHead: this attention cannot be causal: projecting a sentence along its length mixes future "
                "positions into the "
                "past. Use Full attention where a decoder looks back at itself");

  using X = Variable<Device, Width>;

  Linear<Device, Width, 3 * Width> in;  // queries, keys, values: one product
  typename Policy::template LengthProjection<Device, Width, Heads> projection;
  Linear<Device, Width, Width> out;
  float dropout = 0;  // of the attention weights

  explicit MultiHead(float rate = 0);

  /// Self-attention. With a cache, x holds the newest positions of each sentence and the cache what went before.
  X operator()(Tape<Device>& tape, X x, Ragged rows, KeyValueCache<Device, Width>* past = nullptr) const;

  /// What cross-attention looks at in a text: computed once, whoever looks at it and however often.
  KeysValues<Device, Width> remember(Tape<Device>& tape, X memory, Ragged rows) const;
  /// Cross-attention.
  X operator()(Tape<Device>& tape, X x, Ragged rows, KeysValues<Device, Width> memory) const;

  void for_each_parameter(auto&& visit) {
    visit("in", in);
    visit("projection", projection);
    visit("out", out);
  }
  void share(auto&& visit, MultiHead& first) requires requires { projection.share(visit, first.projection); }
  { projection.share(visit, first.projection); }

 private:
  static constexpr bool kPositions = requires { requires Policy::looks_at_positions; };

  X attend(Tape<Device>& tape, X queries, Ragged rows, KeysValues<Device, Width> memory, bool keys_first) const {
    const auto seen = attention(tape, queries, rows, memory,
                                {.heads = Heads,
                                 .scale = Policy::Score::scale(Width / Heads),
                                 .causal = Masking == Mask::causal,
                                 .dropout = dropout,
                                 .keys_first = keys_first});
    sign_weights(tape, *this, kPositions);
    return out(tape, seen);
  }
};

template <class Device, int Width, int Heads, class Policy, Mask Masking>
MultiHead<Device, Width, Heads, Policy, Masking>::MultiHead(float rate) : dropout(rate) {
  in.weight.initial = Initial::xavier(Width, Width);  // three square matrices, not one wide one
}

template <class Device, int Width, int Heads, class Policy, Mask Masking>
Variable<Device, Width> MultiHead<Device, Width, Heads, Policy, Masking>::operator()(
    Tape<Device>& tape, X x, Ragged rows, KeyValueCache<Device, Width>* past) const {
  auto [queries, keys, values] = split<3>(tape, in(tape, x));
  KeysValues<Device, Width> memory{keys, values, rows};
  if (past != nullptr) memory = past->append(tape, memory);
  return attend(tape, queries, rows, projection(tape, memory), false);
}

template <class Device, int Width, int Heads, class Policy, Mask Masking>
KeysValues<Device, Width> MultiHead<Device, Width, Heads, Policy, Masking>::remember(Tape<Device>& tape, X memory,
                                                                                     Ragged rows) const {
  auto [keys, values] = split<2>(tape, in.template outputs<Width, 2 * Width>(tape, memory));
  return projection(tape, {keys, values, rows});
}

template <class Device, int Width, int Heads, class Policy, Mask Masking>
Variable<Device, Width> MultiHead<Device, Width, Heads, Policy, Masking>::operator()(
    Tape<Device>& tape, X x, Ragged rows, KeysValues<Device, Width> memory) const {
  return attend(tape, in.template outputs<0, Width>(tape, x), rows, memory, true);
}

}  // namespace attn
