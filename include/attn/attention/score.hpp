#pragma once
#include "attn/nn/linear.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

// Score policies: the score of a query q and a key k. For multi-head attention a policy has
//
//   scale(width)                the score is scale(width) * q · k, without parameters
//
// For global attention, which accepts any score, a policy has
//
//   equal_widths                whether query and key must have the same width
//   Layer<Device, Query, Key>   a layer, with parameters if it needs any, for queries and keys of these widths. Constructible
//                               from both, or by default. In models with dynamic sizes both are `dynamic`. It has
//     width                     the width in which a query and a key are compared
//     query(q), key(k)          map both to that width
//     operator()(queries, rows, memory, causal)   the context of each query
//     for_each_parameter(visit)                   visits the parameters
//     folded(k)                 optional, for dot products: keys that give the same scores with queries before query(),
//                               because (U q) · k = q · (Uᵀ k). All steps of input feeding are then one op
//
// PlainScore is the layer of scores without parameters, ProductScore the base of dot-product scores.

/// Dot products of queries and keys after query() and key().
template <class Device, int Width>
struct ProductScore {
  static constexpr int width = Width;
  double scale = 1;

  template <int Value>
  Variable<Device, Value> operator()(Variable<Device, Width> queries, Ragged rows, KeysValues<Device, Width, Value> memory,
                                     bool causal) const {
    return attention<Device>(queries, rows, memory, {.scale = scale, .causal = causal, .prefetch_keys = !causal});
  }
};

template <class Device, int Query, int Key, class Policy>
struct PlainScore : ProductScore<Device, Query> {
  static_assert(
      Query == Key,
      "attn: DotProduct and ScaledDot multiply a query and a key element by element, so their widths must be equal; "
      "Multiplicative, ReducedRank and Additive take any");
  PlainScore(Size<Query>, Size<Key> key) { this->scale = Policy::scale(key); }
  Variable<Device, Query> query(Variable<Device, Query> q) const { return q; }
  Variable<Device, Key> key(Variable<Device, Key> k) const { return k; }
  Variable<Device, Query> folded(Variable<Device, Query> k) const { return k; }
  void for_each_parameter(auto&&) {}
};

/// q · k. Luong et al. 2015.
struct DotProduct {
  static constexpr bool equal_widths = true;
  static double scale(int) { return 1; }
  template <class Device, int Query, int Key>
  using Layer = PlainScore<Device, Query, Key, DotProduct>;
};

/// q · k / sqrt(d). Vaswani et al. 2017.
struct ScaledDot {
  static constexpr bool equal_widths = true;
  static double scale(int width) { return 1 / std::sqrt(static_cast<double>(width)); }
  template <class Device, int Query, int Key>
  using Layer = PlainScore<Device, Query, Key, ScaledDot>;
};

/// qᵀ W k. Luong et al. 2015 ("general").
struct Multiplicative {
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer : ProductScore<Device, Query> {
    Projection<Device, Key, Query> weight;  // W; projects the keys, once for all queries

    Layer(Size<Query> query, Size<Key> key) : weight(key, query) {}
    Variable<Device, Query> query(Variable<Device, Query> q) const { return q; }
    Variable<Device, Query> key(Variable<Device, Key> k) const { return weight(k); }
    Variable<Device, Query> folded(Variable<Device, Query> k) const { return k; }
    void for_each_parameter(auto&& visit) { weight.for_each_parameter(visit); }
  };
};

/// (U q) · (V k): multiplicative with W = Uᵀ V of rank at most K.
template <int K>
struct ReducedRank {
  static_assert(K > 0, "attn: ReducedRank: the rank must be positive");
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer : ProductScore<Device, K> {
    Projection<Device, Query, K> of_query;  // U
    Projection<Device, Key, K> of_key;      // V

    Layer(Size<Query> query, Size<Key> key) : of_query(query, K), of_key(key, K) {}
    Variable<Device, K> query(Variable<Device, Query> q) const { return of_query(q); }
    Variable<Device, K> key(Variable<Device, Key> k) const { return of_key(k); }
    Variable<Device, Query> folded(Variable<Device, K> k) const { return linear_transposed(k, of_query.weight); }
    void for_each_parameter(auto&& visit) {
      visit("query", of_query);
      visit("key", of_key);
    }
  };
};

/// vᵀ tanh(W₁ k + W₂ q), a network with one hidden layer of Width units, by default as many as the query's. Bahdanau et al.
/// 2014.
template <int Width = dynamic>
struct Additive {
  static_assert(Width > 0 || Width == dynamic, "attn: Additive: the width must be positive");
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer {
    static constexpr int width = Width == dynamic ? Query : Width;

    Projection<Device, Key, width> of_key;      // W₁
    Projection<Device, Query, width> of_query;  // W₂
    Parameter<Device> v;

    Layer(Size<Query> query, Size<Key> key) : Layer(query, key, Width == dynamic ? int(query) : Width) {}

    Variable<Device, width> query(Variable<Device, Query> q) const { return of_query(q); }
    Variable<Device, width> key(Variable<Device, Key> k) const { return of_key(k); }

    template <int Value>
    Variable<Device, Value> operator()(Variable<Device, width> queries, Ragged rows,
                                       KeysValues<Device, width, Value> memory, bool causal) const {
      return additive_attention<Device>(queries, rows, memory, v, causal);
    }

    void for_each_parameter(auto&& visit) {
      visit("key", of_key);
      visit("query", of_query);
      visit("v", v);
    }

   private:
    Layer(int query, int key, int hidden)
        : of_key(key, hidden), of_query(query, hidden), v{hidden, 1, Initializer::xavier(hidden, 1)} {}
  };
};

/// The score requirements of multi-head attention.
template <class Policy>
concept MultiHeadScore = requires(int width) {
  { Policy::scale(width) } -> std::convertible_to<double>;
};

// The score requirements of global attention, one concept each, so that errors name the missing part.
template <class Policy>
concept ScoreSaysWidths = requires {
  { Policy::equal_widths } -> std::convertible_to<bool>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreHasLayer = requires {
  { Policy::template Layer<Device, Query, Key>::width } -> std::convertible_to<int>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreTakesQueries = requires(const typename Policy::template Layer<Device, Query, Key>& layer,
                                     Variable<Device, Query> q) {
  { layer.query(q) } -> std::same_as<Variable<Device, Policy::template Layer<Device, Query, Key>::width>>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreTakesKeys = requires(const typename Policy::template Layer<Device, Query, Key>& layer,
                                  Variable<Device, Key> k) {
  { layer.key(k) } -> std::same_as<Variable<Device, Policy::template Layer<Device, Query, Key>::width>>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreComputes = requires(const typename Policy::template Layer<Device, Query, Key>& layer,
                                 Variable<Device, Policy::template Layer<Device, Query, Key>::width> queries, Ragged rows,
                                 KeysValues<Device, Policy::template Layer<Device, Query, Key>::width, Key> memory) {
  { layer(queries, rows, memory, true) } -> std::same_as<Variable<Device, Key>>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreNamesParameters = requires(typename Policy::template Layer<Device, Query, Key>& layer,
                                        void (&visit)(const char*, Parameter<Device>&)) {
  layer.for_each_parameter(visit);
};

/// All score requirements of global attention.
template <class Policy, class Device, int Query, int Key>
concept GlobalScore = ScoreSaysWidths<Policy> && ScoreHasLayer<Policy, Device, Query, Key> &&
    ScoreTakesQueries<Policy, Device, Query, Key> && ScoreTakesKeys<Policy, Device, Query, Key> &&
    ScoreComputes<Policy, Device, Query, Key> && ScoreNamesParameters<Policy, Device, Query, Key>;

}  // namespace attn
