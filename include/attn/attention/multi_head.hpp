#pragma once
#include "attn/attention/policy.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// The layout that all caches of a decoder share. Each sentence has a place with room for `capacity` rows. Finished
/// sentences leave the layout; nothing moves. If two hypotheses continue a sentence, its rows are copied to a second place.
struct CacheLayout {
  Ragged rows;                           // filled rows of the active sentences, with the newest
  const std::int32_t* newest = nullptr;  // the row of each sentence's newest position
  Index places = 0, capacity = 0;
  Index copies = 0;  // rows to copy before the newest are appended; sources and destinations do not overlap
  const std::int32_t *copy_from = nullptr, *copy_to = nullptr;
  FirstPositions positions;  // of each active row's newest token

  Ragged earlier() const {
    return {rows.begin, newest, rows.count, rows.rows - rows.count, std::max<Index>(rows.longest - 1, 0)};
  }
};

/// Keys and values of a decoder's past positions, concatenated. For decoding only: it keeps no gradients.
template <class Device>
struct KeyValueCache {
  using Scalar = typename Device::Scalar;

  Index key_width;
  Matrix<Scalar> rows;  // (places * capacity) x (key width + value width)
  const CacheLayout* layout = nullptr;

  /// Allocates from a tape that outlives the steps.
  KeyValueCache(Tape<Device>& tape, const CacheLayout& shared, Index keys, Index values)
      : key_width(keys), rows(tape.matrix(shared.places * shared.capacity, keys + values)), layout(&shared) {}

  /// Appends each sentence's newest row. Returns all rows as activations of the newest rows' tape. Call once per step.
  KeysValues<Device> append(KeysValues<Device> newest) {
    Tape<Device>& tape = newest.keys.tape();
    require(!tape.recording(), "KeyValueCache: the tape records gradients. Decode on a tape that does not record.");
    if (layout->copies > 0)
      move_rows(
          tape.device,
          {.from = rows, .from_row = layout->copy_from, .to = {rows}, .to_row = layout->copy_to, .count = layout->copies});
    const Matrix<const Scalar> key = newest.keys.value, value = newest.values.value;
    const auto put = [&](Matrix<const Scalar> from, Matrix<Scalar> to) {
      move_rows(tape.device,
                {.from = from, .to = {to}, .to_row = layout->newest, .count = from.rows, .appends = layout->copies == 0});
    };
    if (value.data == key.data + key_width && value.stride == key.stride)  // adjacent slices of one product
      put({key.data, key.rows, rows.cols, key.stride}, rows);
    else
      put(key, keys()), put(value, values());
    return {tape.constant(keys()), tape.constant(values()), layout->rows};
  }

 private:
  Matrix<Scalar> keys() const { return rows.columns(0, key_width); }
  Matrix<Scalar> values() const { return rows.columns(key_width, rows.cols - key_width); }
};

enum class Mask { none, causal };  // causal: attention to the own and earlier positions

template <class Policy, class Device, int Width, int Heads>
struct QueryKeyOf {
  using Type = NoLayer;
};
template <class Policy, class Device, int Width, int Heads>
requires requires { typename Policy::template QueryKey<Device, Width, Heads>; }
struct QueryKeyOf<Policy, Device, Width, Heads> {
  using Type = typename Policy::template QueryKey<Device, Width, Heads>;
};

/// Multi-head attention:
///
///     y = concat(head₁, ..., headₕ) Wₒ,   headᵢ = attention(x Wqᵢ, m Wkᵢ, m Wvᵢ)
///
/// where m is x itself (self-attention) or another text (cross-attention). Policy selects the keys and values. Vaswani et
/// al. 2017, section 3.2.2; torch.nn.MultiheadAttention.
template <class Device, int Width = dynamic, int Heads = dynamic, class Policy = Full<>, Mask Masking = Mask::none>
struct MultiHead {
  static_assert(Heads == dynamic || (Heads > 0 && (Width == dynamic || Width % Heads == 0)),
                "attn: MultiHead: width must be a multiple of heads");
  static_assert(HasScore<Policy>, "attn: an attention policy needs  using Score");
  static_assert(!HasScore<Policy> || HasMultiHeadScore<Policy>,
                "attn: a score of multi-head attention needs  static double scale(int width): it is scale * q · k without "
                "parameters; scores with parameters are for global attention");
  static_assert(SaysCausal<Policy>, "attn: an attention policy needs  static constexpr bool causal_allowed");
  static_assert(HasLengthProjection<Policy, Device, Width, Heads>,
                "attn: an attention policy needs  LengthProjection<Device, Width, Heads>  with  KeysValues "
                "operator()(KeysValues) const");
  static_assert(Masking == Mask::none || Policy::causal_allowed,
                "attn: MultiHead: this attention cannot be causal: its projection along the sentence mixes future "
                "positions into the past. Use Full for the self-attention of a decoder.");

  using X = Variable<Device, Width>;
  using LengthProjection = typename Policy::template LengthProjection<Device, Width, Heads>;
  static constexpr bool kQueryKey = requires { typename Policy::template QueryKey<Device, Width, Heads>; };
  using QueryKeyLayer = typename QueryKeyOf<Policy, Device, Width, Heads>::Type;

  Linear<Device, Width, dynamic> in;  // queries, keys and values in one product
  QueryKeyLayer query_key;
  LengthProjection projection;
  Linear<Device, Width, Width> out;
  int heads, key_value_heads;
  float dropout = 0;  // of the attention weights

  explicit MultiHead(float rate = 0) requires(Width != dynamic && Heads != dynamic)
      : MultiHead(AttentionShape{Width, Heads}, rate) {}
  MultiHead(const AttentionShape& shape, float rate = 0)
      : in(shape.width, shape.width + 2 * checked(shape).key_width()),
        query_key(shape),
        projection(construct<LengthProjection>(shape)),
        out(shape.width, shape.width),
        heads(Size<Heads>(shape.heads)),
        key_value_heads(shape.kv_heads()),
        dropout(rate) {
    in.weight.initial = Initializer::xavier(shape.width, shape.width);  // as three square matrices, not as one
  }

  /// Self-attention. With a cache, x holds the newest positions of each sentence and the cache the earlier ones.
  X operator()(X x, Ragged rows, KeyValueCache<Device>* past = nullptr) const {
    check_input("MultiHead", in.weight.cols, x);
    const auto all = in(x);
    const Index width = out.weight.rows, key_width = width / heads * key_value_heads;
    Variable<Device> queries = slice(all, 0, width), keys = slice(all, width, key_width);
    if constexpr (kQueryKey) {
      const FirstPositions first = past != nullptr ? past->layout->positions : FirstPositions{};
      queries = query_key.query(queries, rows, first);
      keys = query_key.key(keys, rows, first);
    }
    KeysValues<Device> memory{repeated(keys), repeated(slice(all, width + key_width, key_width)), rows};
    if (past != nullptr) memory = past->append(memory);
    return attend(queries, rows, projection(memory), false);
  }

  /// The keys and values for cross-attention. Compute them once per text.
  KeysValues<Device> remember(X memory, Ragged rows) const {
    const Index width = out.weight.rows, key_width = width / heads * key_value_heads;
    check_input("MultiHead", in.weight.cols, memory);
    auto [keys, values] = split<2>(in.outputs(memory, width, 2 * key_width));
    return projection(KeysValues<Device>{repeated(keys), repeated(values), rows});
  }
  X operator()(X x, Ragged rows, KeysValues<Device> memory) const {
    check_input("MultiHead", in.weight.cols, x);
    return attend(in.outputs(x, 0, out.weight.rows), rows, memory, true);
  }

  void for_each_parameter(auto&& visit) {
    visit("in", in);
    if constexpr (kQueryKey) visit("query_key", query_key);
    visit("projection", projection);
    visit("out", out);
  }
  /// Ties the parameters that the policy shares across layers to those of the first layer.
  void share(auto&& visit, MultiHead& first) {
    if constexpr (requires { query_key.share(visit, first.query_key); }) query_key.share(visit, first.query_key);
    if constexpr (requires { projection.share(visit, first.projection); }) projection.share(visit, first.projection);
  }

 private:
  /// Repeats key or value heads that several query heads share.
  Variable<Device> repeated(Variable<Device> x) const { return repeat_heads(x, key_value_heads, heads / key_value_heads); }

  X attend(Variable<Device> queries, Ragged rows, KeysValues<Device> memory, bool cross) const {
    const AttentionOptions options{.heads = heads,
                                   .scale = Policy::Score::scale(static_cast<int>(queries.cols()) / heads),
                                   .causal = Masking == Mask::causal,
                                   .dropout = dropout,
                                   .prefetch_keys = cross};
    const auto seen = [&] {
      if constexpr (requires { query_key.attend(queries, rows, memory, options); })
        if (!cross) return query_key.attend(queries, rows, memory, options);
      return attention(queries, rows, memory, options);
    }();
    sign_weights(
        queries.tape(), *this, requires { requires Policy::keys_are_positions; });
    return output_of<Device, Width>("MultiHead", out(seen));
  }
};

}  // namespace attn
