#pragma once
#include "attn/ops/attention.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// Inputs of attention: keys, values, and the layout of their sentences.
template <class Device, int Width = dynamic, int Value = Width>
struct KeysValues;

template <class Device>
struct KeysValues<Device, dynamic, dynamic> {
  Variable<Device> keys, values;
  Ragged rows;
};

template <class Device, int Width, int Value>
struct KeysValues : KeysValues<Device> {
  KeysValues() = default;
  KeysValues(Variable<Device, Width> keys, Variable<Device, Value> values, Ragged rows)
      : KeysValues<Device>{keys, values, rows} {}
  KeysValues(const KeysValues<Device>& memory) : KeysValues(memory.keys, memory.values, memory.rows) {}
};

/// Identifies a layer: its address, and a mark of its type because a layer's first member has the same address.
using LayerId = std::pair<const void*, const void*>;
template <class Type>
inline constexpr char type_mark = 0;
template <class Layer>
LayerId id_of(const Layer& layer) {
  return {&layer, &type_mark<Layer>};
}

/// The attention weights of one call of attention. To record them:
///
///     std::vector<AttentionWeights<Device>> seen;
///     tape.attention_weights = &seen;
///
/// Every call of attention on that tape then appends one entry. The entries live as long as the tape.
template <class Device>
struct AttentionWeights {
  Matrix<typename Device::Real> weights;  // heads * query rows x longest key count: row h * query rows + i, column j
  Ragged queries, keys;                   // j counts the keys of i's sentence; weights of invisible keys are 0
  int heads = 1;
  LayerId layer = {};      // the layer that called attention
  bool positions = false;  // whether keys are positions of a text rather than mixtures of several
};

/// Sets the layer of the newest recorded weights, if weights are recorded and it is not set yet.
template <class Device, class Layer>
void sign_weights(Tape<Device>& tape, const Layer& layer, bool positions) {
  if (tape.attention_weights == nullptr || tape.attention_weights->empty()) return;
  auto& newest = tape.attention_weights->back();
  if (newest.layer == LayerId{}) newest.layer = id_of(layer), newest.positions = positions;
}

template <class Device>
Matrix<typename Device::Real> note_weights(Tape<Device>& tape, Index query_rows, Ragged queries, Ragged keys, int heads) {
  const auto weights = tape.template matrix<typename Device::Real>(heads * query_rows, keys.longest);
  tape.attention_weights->push_back({weights, queries, keys, heads});
  return weights;
}

/// Throws an Error if queries, keys and values do not fit together.
template <class Device>
void check_attention(const Variable<Device>& q, const Ragged& queries, const KeysValues<Device>& memory) {
  require(queries.count == memory.rows.count, "attention: queries of ", queries.count, " sentences, but keys of ",
          memory.rows.count, ". Both must have the same sentences.");
  check_rows("attention", q.rows(), queries);
  check_rows("attention", memory.keys.rows(), memory.rows);
  require(q.cols() == memory.keys.cols(), "attention: queries of ", q.cols(), " columns, but keys of ", memory.keys.cols(),
          ". Both must have the same width.");
  require(memory.keys.rows() == memory.values.rows(), "attention: ", memory.keys.rows(), " keys, but ",
          memory.values.rows(), " values. Each key needs one value.");
}

struct AttentionOptions {
  int heads = 1;
  double scale = 1;
  bool causal = false;
  float dropout = 0;           // of the weights
  bool prefetch_keys = false;  // keys and values predate the op that computes the queries
};

/// dropout(softmax(scale Q Kᵀ)) V, for each head of each sentence. With u, the scores are those of additive_attention.
template <class Device>
Variable<Device> attention(Variable<Device> q, Ragged queries, KeysValues<Device> memory, AttentionOptions options,
                           Parameter<Device> u = {}) {
  Tape<Device>& tape = q.tape();
  check_attention(q, queries, memory);
  require(options.heads > 0 && q.cols() % options.heads == 0 && memory.values.cols() % options.heads == 0,
          "attention: ", q.cols(), " columns of queries and ", memory.values.cols(), " of values are not multiples of ",
          options.heads, " heads");
  auto y = tape.result(q.rows(), memory.values.cols(), q, memory.keys, memory.values, u);
  const AttentionArgs<Device> forward{.q = q.value,
                                      .k = memory.keys.value,
                                      .v = memory.values.value,
                                      .u = u.values(),
                                      .queries = queries,
                                      .keys = memory.rows,
                                      .heads = options.heads,
                                      .scale = options.scale,
                                      .causal = options.causal,
                                      .prefetch_keys = options.prefetch_keys,
                                      .dropout = tape.dropout(options.dropout),
                                      .y = y.value,
                                      .lse = tape.template array<typename Device::Real>(q.rows() * options.heads)};
  attention(tape.device, forward);
  if (tape.attention_weights != nullptr)
    attention_weights(tape.device, {forward, note_weights(tape, q.rows(), queries, memory.rows, options.heads)});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    const Index covered = memory.rows.rows;  // attention does not touch rows outside all sentences
    const SinkOrScratch<Device> dq(back, q), dk(back, memory.keys, covered), dv(back, memory.values, covered);
    const GradientOrScratch<Device> du(back, u);
    attention_gradient(back.device, {.forward = forward, .dy = dy, .dq = dq, .dk = dk, .dv = dv, .du = du});
  });
  return y;
}

/// softmax(u · tanh(q + k)) V for each sentence
template <class Device>
Variable<Device> additive_attention(Variable<Device> q, Ragged queries, KeysValues<Device> memory, Parameter<Device> u,
                                    bool causal) {
  check_attention(q, queries, memory);
  require(u.size() == q.cols(), "additive_attention: queries of ", q.cols(), " columns for a vector of ", u.size());
  return attention(q, queries, memory, {.causal = causal}, u);
}

}  // namespace attn
