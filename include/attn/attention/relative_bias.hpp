#pragma once
#include "attn/attention/policy.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/ragged_product.hpp"
#include "attn/tape/reductions.hpp"
#include "attn/tape/reshape.hpp"

namespace attn {

/// The bucket of a key `distance` positions after the query. Half of the buckets hold one distance each. The others grow
/// with the logarithm of the distance, and the last holds `furthest` and more. Causal: keys do not follow the query.
inline Token relative_bucket(Index distance, bool causal, int buckets, int furthest) {
  const int side = causal ? buckets : buckets / 2, exact = side / 2;
  const Index away = causal ? std::max<Index>(-distance, 0) : std::abs(distance);
  const Token first = !causal && distance > 0 ? side : 0;
  if (away < exact) return first + static_cast<Token>(away);
  const float log = std::log(static_cast<float>(away) / static_cast<float>(exact)) /
                    static_cast<float>(std::log(static_cast<double>(furthest) / exact));  // in float, as in PyTorch
  return first + std::min(exact + static_cast<Token>(log * static_cast<float>(side - exact)), side - 1);
}

/// Full self-attention that adds a learned bias to the scores, one per head and distance bucket:
///
///     softmax(scale Q Kᵀ + B) V,   B[i, j] = table[bucket(j - i), head]
///
/// All layers of a stack share the table. Use it with NoPositions. T5 (Raffel et al. 2020) does not scale scores:
/// RelativeBias<32, 128, DotProduct>. It stores the scores, and copies sentence lengths to the host, so decoding steps
/// cannot run as CUDA graphs.
template <int Buckets = 32, int Furthest = 128, class S = ScaledDot>
struct RelativeBias : Full<S> {
  static_assert(Buckets >= 4 && Buckets % 4 == 0 && Furthest > Buckets / 2,
                "attn: RelativeBias: Buckets must be a multiple of 4, and Furthest more than half of Buckets");
  using DecoderSelf = RelativeBias;
  static constexpr bool supports_graph = false;

  template <class Device, int Width, int Heads>
  struct QueryKey {
    Parameter<Device> table;

    explicit QueryKey(const AttentionShape& shape) : table{Buckets, shape.heads, Initializer::normal(0.1)} {}
    Variable<Device> query(Variable<Device> q, Ragged, FirstPositions) const { return q; }
    Variable<Device> key(Variable<Device> k, Ragged, FirstPositions) const { return k; }
    Variable<Device> attend(Variable<Device> q, Ragged queries, KeysValues<Device> memory, AttentionOptions options) const {
      check_attention(q, queries, memory);
      Tape<Device>& tape = q.tape();
      const Text buckets = upload(tape, buckets_of(tape.device, q.rows(), queries, memory.rows, options.causal));
      const Variable<Device> biases = embedding(tape, buckets, table, 1, {}, {}, 0);  // (queries * keys) x heads
      std::vector<Variable<Device>> heads;
      for (Index h = 0; h < options.heads; ++h) {
        const auto of_head = [&](Variable<Device> x) {
          return slice(x, h * x.cols() / options.heads, x.cols() / options.heads);
        };
        const Variable<Device> scores =
            ragged_scores(of_head(q), queries, of_head(memory.keys), memory.rows, options.scale);
        const auto biased = scores + reshape(slice(biases, h, 1), q.rows(), memory.rows.longest);
        const Variable<Device> weights = dropout(softmax(biased, queries, memory.rows, options.causal), options.dropout);
        heads.push_back(ragged_mix(weights, queries, of_head(memory.values), memory.rows));
      }
      return concat(heads);
    }
    void for_each_parameter(auto&& visit) { visit("table", table); }
    void share(auto&& visit, QueryKey& first) { visit.tie(table, first.table); }

   private:
    /// One row per query, with a bucket for each key. The last query is at the position of the last key, as in attention().
    static Sentences buckets_of(Device& device, Index rows, Ragged queries, Ragged keys, bool causal) {
      const auto [begin, end] = offsets_on_host(device, queries);
      const auto [first, last] = offsets_on_host(device, keys);
      std::vector<Token> of_distance;  // from -longest to longest
      for (Index d = -keys.longest; d <= keys.longest; ++d)
        of_distance.push_back(relative_bucket(d, causal, Buckets, Furthest));
      Sentences buckets;
      buckets.tokens.resize(static_cast<std::size_t>(rows * keys.longest));
      for (Index i = 1; i <= rows; ++i) buckets.offsets.push_back(static_cast<std::int32_t>(i * keys.longest));
      for (std::size_t s = 0; s < begin.size(); ++s)
        for (Index i = begin[s], count = last[s] - first[s]; i < end[s]; ++i) {
          const Index position = std::max<Index>(count - (end[s] - i), 0);
          std::copy_n(of_distance.begin() + (keys.longest - position), count, buckets.tokens.begin() + i * keys.longest);
        }
      return buckets;
    }
  };
};

}  // namespace attn
