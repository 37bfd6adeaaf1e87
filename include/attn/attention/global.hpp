#pragma once
#include "attn/attention/key_value.hpp"
#include "attn/attention/score.hpp"

namespace attn {

/// Global attention of each query: c = sum of aⱼ vⱼ, a = softmax of score(h, kⱼ). A key-value policy provides the key and
/// the value of a state, a score policy the score of a query and a key. One call handles all queries of a batch, or those of
/// one step. Luong et al. 2015, section 3.1; Bahdanau et al. 2014.
///
/// The memory is another text, or the queries' own past. For their own past, the memory omits each sentence's last row
/// (all_but_last), so no query sees its own state or a later one.
template <class Device, int Query, int State, class ScorePolicy, class KeyValuePolicy = SharedKeyValue>
struct GlobalAttention {
  static_assert(ProvidesKeysValues<KeyValuePolicy, Device, State>,
                "attn: a key-value policy needs  static constexpr bool chooses_widths  and  Layer<Device, Width>  with  "
                "key_width, value_width and  KeysValues operator()(Variable, Ragged) const");
  static_assert(ScoreSaysWidths<ScorePolicy>,
                "attn: a score of global attention needs  static constexpr bool equal_widths");
  using KeyValueLayer = typename KeyValuePolicy::template Layer<Device, State>;

  static constexpr int key_width = KeyValueLayer::key_width, value_width = KeyValueLayer::value_width;
  static constexpr bool kProjected = ScorePolicy::equal_widths && KeyValuePolicy::chooses_widths && Query != key_width;
  static constexpr int query_width = kProjected ? key_width : Query;
  using ScoreLayer = typename ScorePolicy::template Layer<Device, query_width, key_width>;
  static_assert(ScoreHasLayer<ScorePolicy, Device, query_width, key_width>,
                "attn: a score of global attention needs  Layer<Device, Query, Key>  with  static constexpr int width");
  static_assert(ScoreTakesQueries<ScorePolicy, Device, query_width, key_width>,
                "attn: the Layer of a score needs  Variable<Device, width> query(Variable<Device, Query>) const");
  static_assert(ScoreTakesKeys<ScorePolicy, Device, query_width, key_width>,
                "attn: the Layer of a score needs  Variable<Device, width> key(Variable<Device, Key>) const");
  static_assert(
      ScoreComputes<ScorePolicy, Device, query_width, key_width>,
      "attn: the Layer of a score needs  template <int Value> Variable<Device, Value> operator()("
      "Variable<Device, width> queries, Ragged rows, KeysValues<Device, width, Value> memory, bool causal) const");
  static_assert(ScoreNamesParameters<ScorePolicy, Device, query_width, key_width>,
                "attn: the Layer of a score needs  void for_each_parameter(auto&& visit)");
  static constexpr int width = ScoreLayer::width;  // of queries and keys when they are compared

  using SourceKeysValues = KeysValues<Device, width, value_width>;

  Size<value_width> values;  // columns of the values
  KeyValueLayer key_value;
  ScoreLayer score;
  std::conditional_t<kProjected, Projection<Device, Query, key_width>, NoLayer> query;
  Size<width> compared;  // columns of the keys

  GlobalAttention() requires(Query != dynamic && State != dynamic) : GlobalAttention(Query, State) {}
  GlobalAttention(Size<Query> query, Size<State> state)
      : GlobalAttention(query, state, key_width == dynamic ? int(state) : key_width) {}

  /// The keys and values of these states. Compute them once for any number of queries.
  SourceKeysValues remember(Variable<Device, State> states, Ragged rows) const {
    const auto all = key_value(states, rows);
    return {score.key(all.keys), all.values, rows};
  }

  /// The context of each query. With `back`, query i of n sees m - n + i + 1 of m keys (ops/attention.hpp). Columns appended
  /// to the values are averaged along with them.
  template <int Value>
  Variable<Device, Value> operator()(Variable<Device, Query> queries, Ragged rows,
                                     KeysValues<Device, width, Value> looked_at, bool back = false) const {
    const auto context = score(score.query(query(queries)), rows, looked_at, back);
    sign_weights(queries.tape(), *this, true);
    return context;
  }

  /// Whether scores are dot products, so that transformations of the queries can be folded into the keys.
  static constexpr bool folds = requires(const ScoreLayer& layer, Variable<Device, width> keys) { layer.folded(keys); };
  /// Keys for untransformed queries: their dot products, times score.scale, are the scores.
  template <int Value>
  KeysValues<Device, Query, Value> folded(KeysValues<Device, width, Value> looked_at) const {
    const auto keys = score.folded(looked_at.keys);
    if constexpr (kProjected)
      return {linear_transposed(keys, query.weight), looked_at.values, looked_at.rows};
    else
      return {keys, looked_at.values, looked_at.rows};
  }

  void for_each_parameter(auto&& visit) {
    visit("memory", key_value);
    visit("score", score);
    if constexpr (kProjected) visit("query", query);
  }

 private:
  GlobalAttention(int queries, int states, int keys)
      : values(value_width == dynamic ? states : value_width),
        key_value(construct<KeyValueLayer>(Size<State>(states))),
        score(construct<ScoreLayer>(Size<query_width>(kProjected ? keys : queries), Size<key_width>(keys))),
        query(queries, keys),
        compared(width == dynamic ? (kProjected ? keys : queries) : width) {}
};

}  // namespace attn
