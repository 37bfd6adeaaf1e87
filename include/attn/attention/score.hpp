#pragma once
#include <cmath>
#include <concepts>

#include "attn/nn/linear.hpp"
#include "attn/tape/additive_attention.hpp"

namespace attn {

// Score policies: how well a query q and a key k match. A policy has
//
//   name                        for people
//   equal_widths                whether query and key must be equally wide
//   Layer<Device, Query, Key>   what it learns, if anything: query() and key() bring both to the width at which they meet,
//                               and the call operator looks, with queries, at keys and values
//   Layer::folded()             only where the score is a product: keys that score in the same way with queries as they were
//                               before query(), because (U q) · k = q · (Uᵀ k)
//   scale(width)                only where the score is scale * q · k and learns nothing: such a one multi-head attention
//                               can use too

/// Scores that are products: of the numbers as they are, or as query() and key() made them.
template <class Device, int Width>
struct ProductScore {
  static constexpr int width = Width;
  double scale = 1;

  template <int Value>
  Variable<Device, Value> operator()(Tape<Device>& tape, Variable<Device, Width> queries, Ragged rows,
                                     KeysValues<Device, Width, Value> memory, bool causal) const {
    return attention(tape, queries, rows, memory, {.scale = scale, .causal = causal});
  }
};

template <class Device, int Query, int Key, class Policy>
struct PlainScore : ProductScore<Device, Query> {
  static_assert(Query == Key,
                "attn: Dot and ScaledDot multiply a query and a key number by number, so their widths must be equal; "
                "Multiplicative, ReducedRank and Additive take any");
  PlainScore() { this->scale = Policy::scale(Key); }
  Variable<Device, Query> query(Tape<Device>&, Variable<Device, Query> q) const { return q; }
  Variable<Device, Key> key(Tape<Device>&, Variable<Device, Key> k) const { return k; }
  Variable<Device, Query> folded(Tape<Device>&, Variable<Device, Query> k) const { return k; }
  void for_each_parameter(auto&&) {}
};

/// q · k. Luong et al. 2015.
struct Dot {
  static constexpr const char* name = "dot";
  static constexpr bool equal_widths = true;
  static double scale(int) { return 1; }
  template <class Device, int Query, int Key>
  using Layer = PlainScore<Device, Query, Key, Dot>;
};

/// q · k / sqrt(d). Vaswani et al. 2017.
struct ScaledDot {
  static constexpr const char* name = "scaled dot";
  static constexpr bool equal_widths = true;
  static double scale(int width) { return 1 / std::sqrt(static_cast<double>(width)); }
  template <class Device, int Query, int Key>
  using Layer = PlainScore<Device, Query, Key, ScaledDot>;
};

/// qᵀ W k. Luong et al. 2015, who call it general.
struct Multiplicative {
  static constexpr const char* name = "multiplicative";
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer : ProductScore<Device, Query> {
    Projection<Device, Key, Query> weight;  // W: keys are projected once, however many queries look at them

    Variable<Device, Query> query(Tape<Device>&, Variable<Device, Query> q) const { return q; }
    Variable<Device, Query> key(Tape<Device>& tape, Variable<Device, Key> k) const { return weight(tape, k); }
    Variable<Device, Query> folded(Tape<Device>&, Variable<Device, Query> k) const { return k; }
    void for_each_parameter(auto&& visit) { weight.for_each_parameter(visit); }
  };
};

/// (U q) · (V k): multiplicative with a W = Uᵀ V of rank K at most.
template <int K>
struct ReducedRank {
  static_assert(K > 0, "attn: ReducedRank: the rank must be positive");
  static constexpr const char* name = "reduced rank";
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer : ProductScore<Device, K> {
    Projection<Device, Query, K> of_query;  // U
    Projection<Device, Key, K> of_key;      // V

    Variable<Device, K> query(Tape<Device>& tape, Variable<Device, Query> q) const { return of_query(tape, q); }
    Variable<Device, K> key(Tape<Device>& tape, Variable<Device, Key> k) const { return of_key(tape, k); }
    Variable<Device, Query> folded(Tape<Device>& tape, Variable<Device, K> k) const {
      return linear_transposed<Query>(tape, k, of_query.weight);
    }
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
  static constexpr const char* name = "additive";
  static constexpr bool equal_widths = false;

  template <class Device, int Query, int Key>
  struct Layer {
    static constexpr int width = Width;

    Projection<Device, Key, Width> of_key;      // W₁
    Projection<Device, Query, Width> of_query;  // W₂
    Parameter<Device> v{Width, 1, Initial::xavier(Width, 1)};

    Variable<Device, Width> query(Tape<Device>& tape, Variable<Device, Query> q) const { return of_query(tape, q); }
    Variable<Device, Width> key(Tape<Device>& tape, Variable<Device, Key> k) const { return of_key(tape, k); }

    template <int Value>
    Variable<Device, Value> operator()(Tape<Device>& tape, Variable<Device, Width> queries, Ragged rows,
                                       KeysValues<Device, Width, Value> memory, bool causal) const {
      return additive_attention(tape, queries, rows, memory, v, causal);
    }

    void for_each_parameter(auto&& visit) {
      visit("key", of_key);
      visit("query", of_query);
      visit("v", v);
    }
  };
};

template <class Policy>
concept ScoreHasName = requires {
  { Policy::name } -> std::convertible_to<const char*>;
};
template <class Policy>
concept ScoreHasScale = requires(int width) {
  { Policy::scale(width) } -> std::convertible_to<double>;
};
template <class Policy>
concept Score = ScoreHasName<Policy> && ScoreHasScale<Policy>;  // what multi-head attention asks of one

template <class Policy>
concept ScoreSaysWidths = requires {
  { Policy::equal_widths } -> std::convertible_to<bool>;
};
template <class Policy, class Device, int Query, int Key>
concept ScoreHasLayer = requires(const typename Policy::template Layer<Device, Query, Key>& layer, Tape<Device>& tape,
                                 Variable<Device, Query> query, Variable<Device, Key> key) {
  { layer.query(tape, query) } -> std::same_as<Variable<Device, Policy::template Layer<Device, Query, Key>::width>>;
  { layer.key(tape, key) } -> std::same_as<Variable<Device, Policy::template Layer<Device, Query, Key>::width>>;
};

static_assert(Score<Dot> && Score<ScaledDot>);
static_assert(!Score<Multiplicative> && !Score<ReducedRank<2>> && !Score<Additive<2>>);

}  // namespace attn
