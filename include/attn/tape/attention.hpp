#pragma once
#include "attn/core/ragged.hpp"
#include "attn/ops/attention.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// Keys, values, and which of their rows belong to which sentence: what attention looks at.
template <class Device, int Width, int Value = Width>
struct KeysValues {
  Variable<Device, Width> keys;
  Variable<Device, Value> values;
  Ragged rows;
};

/// Which layer of a model: its address, and a mark of its type, because a layer's first member has the same address.
struct LayerId {
  const void* address = nullptr;
  const void* type = nullptr;
  bool operator==(const LayerId&) const = default;
};
template <class Type>
inline constexpr char type_mark = 0;
template <class Layer>
LayerId id_of(const Layer& layer) {
  return {&layer, &type_mark<Layer>};
}

/// Where the queries of one call of attention looked. For whoever wants to see it:
///
///     std::vector<AttentionWeights<Device>> seen;
///     tape.attention_weights = &seen;
///
/// and every call of attention on that tape adds one, in the order of the calls; they live as long as the tape.
template <class Device>
struct AttentionWeights {
  Matrix<typename Device::Real> weights;  // heads * query rows x longest key count: row h * query rows + i, column j
  Ragged queries, keys;                   // j counts the keys of i's sentence; beyond those it sees the weights are 0
  int heads = 1;
  LayerId layer = {};      // whose call it was
  bool positions = false;  // keys are positions of a text, and not what a layer made of several
};

/// Says of which layer the newest weights are, if weights are noted and it is not said yet.
template <class Device, class Layer>
void sign_weights(Tape<Device>& tape, const Layer& layer, bool positions) {
  if (tape.attention_weights == nullptr || tape.attention_weights->empty()) return;
  auto& newest = tape.attention_weights->back();
  if (newest.layer == LayerId{}) newest.layer = id_of(layer), newest.positions = positions;
}

/// Room for the weights of a call, which is then noted.
template <class Device>
Matrix<typename Device::Real> note_weights(Tape<Device>& tape, Index query_rows, Ragged queries, Ragged keys, int heads) {
  using Real = typename Device::Real;
  const Matrix<Real> weights(tape.template array<Real>(heads * query_rows * keys.longest), heads * query_rows,
                             keys.longest);
  tape.attention_weights->push_back({weights, queries, keys, heads});
  return weights;
}

/// Where the gradient of a memory goes. Rows that belong to no sentence, which attention does not touch, get 0.
template <class Device, int Width>
Sink<typename Device::Scalar> memory_sink(Tape<Device>& back, Variable<Device, Width> memory, Ragged rows) {
  auto sink = back.sink(memory);
  if (!sink.add && rows.rows < memory.rows()) back.device.zero(sink.to), sink.add = true;
  return sink;
}

struct AttentionOptions {
  int heads = 1;
  double scale = 1;
  bool causal = false;
  float dropout = 0;        // of the weights
  bool keys_first = false;  // keys and values are older than the op that gives the queries
};

/// dropout(softmax(scale Q Kᵀ)) V, for each head of each sentence
template <class Device, int Width, int Value = Width>
Variable<Device, Value> attention(Tape<Device>& tape, Variable<Device, Width> q, Ragged queries,
                                  KeysValues<Device, Width, Value> memory, AttentionOptions options) {
  require(queries.count == memory.rows.count, "attention: queries of ", queries.count, " sentences cannot look at keys of ",
          memory.rows.count, "; both sides of a batch must hold the same sentences");
  auto y = tape.template make<Value>(q.rows());
  const AttentionArgs<Device> forward{.q = q.value,
                                      .k = memory.keys.value,
                                      .v = memory.values.value,
                                      .queries = queries,
                                      .keys = memory.rows,
                                      .heads = options.heads,
                                      .scale = options.scale,
                                      .causal = options.causal,
                                      .keys_first = options.keys_first,
                                      .dropout = tape.dropout(options.dropout),
                                      .y = y.value,
                                      .lse = tape.template array<typename Device::Real>(q.rows() * options.heads)};
  attention(tape.device, forward);
  if (tape.attention_weights != nullptr)
    attention_weights(tape.device, {forward, note_weights(tape, q.rows(), queries, memory.rows, options.heads)});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    attention_gradient(back.device, {.forward = forward,
                                     .dy = dy,
                                     .dq = back.sink(q),
                                     .dk = memory_sink(back, memory.keys, memory.rows),
                                     .dv = memory_sink(back, memory.values, memory.rows)});
  });
  return y;
}

}  // namespace attn
