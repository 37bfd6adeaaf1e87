#pragma once
#include <cmath>
#include <concepts>

#include "attn/nn/linear.hpp"
#include "attn/tape/additive_attention.hpp"

namespace attn {

// Score policies: how well a query q and a key k match. For multi-head attention a policy has
//
//   scale(width)                the score is scale(width) * q · k, and learns nothing
//
// and for global attention, which asks every score that can be computed,
//
//   equal_widths                whether query and key must be equally wide
//   Layer<Device, Query, Key>   what it learns, if anything, for queries and keys of these widths:
//     width                     at which a query and a key are compared
//     query(q), key(k)              bring both to that width
//     operator()(queries, rows, memory, causal)   what the queries see in a memory's keys and values
//     for_each_parameter(visit)                 names what it learns
//     folded(k)           only where the score is a product: keys that score in the same way with queries as they were
//                               before query(), because (U q) · k = q · (Uᵀ k); input feeding's steps are then one op
//
// PlainScore is the layer of scores that learn nothing, ProductScore the base of those that multiply what they learned.

/// Scores that are products: of queries and keys as they are, or as query() and key() made them.
template <class Device, int Width>
struct ProductScore {
  static constexpr int width = Width;
  double scale = 1;

  template <int Value>
  Variable<Device, Value> operator()(Variable<Device, Width> queries, Ragged rows, KeysValues<Device, Width, Value> memory,
                                     bool causal) const {
    return attention<Device>(queries, rows, memory, {.scale = scale, .causal = causal, .keys_first = !causal});
  }
};

template <class Device, int Query, int Key, class Policy>
struct PlainScore : ProductScore<Device, Query> {
  static_assert(Query == Key,
                "attn: Dot and ScaledDot multiply a query and a key element by element, so their widths must be equal; "
                "Multiplicative, ReducedRank and Additive take any");
  PlainScore() { this->scale = Policy::scale(Key); }
  Variable<Device, Query> query(Variable<Device, Query> q) const { return q; }
  Variable<Device, Key> key(Variable<Device, Key> k) const { return k; }
  Variable<Device, Query> folded(Variable<Device, Query> k) const { return k; }
  void for_each_parameter(auto&&) {}
};

/// q · k. Luong et al. 2015.
struct Dot {
  static constexpr bool equal_widths = true;
  static double scale(int) { return 1; }
  template <class Device, int Query, int Key>
  using Layer = PlainScore<Device, Query, Key, Dot>;
};

/// q · k / sqrt(d). Vaswani et al. 2017.
struct ScaledDot {
  static constexpr bool equal_widths = true;
  static double scale(int width) { return 1 / std::sqrt(static_cast<double>(width)); }
  template <class Device, int Query, int Key>
  using Layer = PlainScore<Device, Query, Key, ScaledDot>;
};

/// qᵀ W k. Luong et al. 2015, who call it general.
struct Multiplicative {
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer : ProductScore<Device, Query> {
    Projection<Device, Key, Query> weight;  // W: keys are projected once, however many queries look at them

    Variable<Device, Query> query(Variable<Device, Query> q) const { return q; }
    Variable<Device, Query> key(Variable<Device, Key> k) const { return weight(k); }
    Variable<Device, Query> folded(Variable<Device, Query> k) const { return k; }
    void for_each_parameter(auto&& visit) { weight.for_each_parameter(visit); }
  };
};

/// (U q) · (V k): multiplicative with a W = Uᵀ V of rank K at most.
template <int K>
struct ReducedRank {
  static_assert(K > 0, "attn: ReducedRank: the rank must be positive");
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer : ProductScore<Device, K> {
    Projection<Device, Query, K> of_query;  // U
    Projection<Device, Key, K> of_key;      // V

    Variable<Device, K> query(Variable<Device, Query> q) const { return of_query(q); }
    Variable<Device, K> key(Variable<Device, Key> k) const { return of_key(k); }
    Variable<Device, Query> folded(Variable<Device, K> k) const { return linear_transposed(k, of_query.weight); }
    void for_each_parameter(auto&& visit) {
      visit("query", of_query);
      visit("key", of_key);
    }
  };
};

/// vᵀ tanh(W₁ k + W₂ q), a network with one hidden layer of this width. Bahdanau et al. 2014.
template <int Width>
struct Additive {
  static_assert(Width > 0, "attn: Additive: the width must be positive");
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer {
    static constexpr int width = Width;

    Projection<Device, Key, Width> of_key;      // W₁
    Projection<Device, Query, Width> of_query;  // W₂
    Parameter<Device> v{Width, 1, Initial::xavier(Width, 1)};

    Variable<Device, Width> query(Variable<Device, Query> q) const { return of_query(q); }
    Variable<Device, Width> key(Variable<Device, Key> k) const { return of_key(k); }

    template <int Value>
    Variable<Device, Value> operator()(Variable<Device, Width> queries, Ragged rows,
                                       KeysValues<Device, Width, Value> memory, bool causal) const {
      return additive_attention<Device>(queries, rows, memory, v, causal);
    }

    void for_each_parameter(auto&& visit) {
      visit("key", of_key);
      visit("query", of_query);
      visit("v", v);
    }
  };
};

/// All that multi-head attention needs of a score.
template <class Policy>
concept MultiHeadScore = requires(int width) {
  { Policy::scale(width) } -> std::convertible_to<double>;
};

// What global attention needs of one, a concept for each part, so that an error names the part that is missing.
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
concept ScoreLooks = requires(const typename Policy::template Layer<Device, Query, Key>& layer,
                              Variable<Device, Policy::template Layer<Device, Query, Key>::width> queries, Ragged rows,
                              KeysValues<Device, Policy::template Layer<Device, Query, Key>::width, Key> memory) {
  { layer(queries, rows, memory, true) } -> std::same_as<Variable<Device, Key>>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreNamesParameters = requires(typename Policy::template Layer<Device, Query, Key>& layer,
                                        void (&visit)(const char*, Parameter<Device>&)) {
  layer.for_each_parameter(visit);
};

/// All that global attention needs of a score.
template <class Policy, class Device, int Query, int Key>
concept GlobalScore = ScoreSaysWidths<Policy> && ScoreHasLayer<Policy, Device, Query, Key> &&
    ScoreTakesQueries<Policy, Device, Query, Key> && ScoreTakesKeys<Policy, Device, Query, Key> &&
    ScoreLooks<Policy, Device, Query, Key> && ScoreNamesParameters<Policy, Device, Query, Key>;

}  // namespace attn
