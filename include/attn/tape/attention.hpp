#pragma once
#include "attn/core/ragged.hpp"
#include "attn/ops/attention.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// Keys, values, and which of their rows belong to which sentence: what attention looks at.
template <class Device, int Width>
struct KeysValues {
  Variable<Device, Width> keys, values;
  Ragged rows;
};

struct AttentionOptions {
  int heads = 1;
  double scale = 1;
  bool causal = false;
  float dropout = 0;  // of the weights
};

/// dropout(softmax(scale Q Kᵀ)) V, for each head of each sentence
template <class Device, int Width>
Variable<Device, Width> attention(Tape<Device>& tape, Variable<Device, Width> q, Ragged queries,
                                  KeysValues<Device, Width> memory, AttentionOptions options) {
  require(queries.count == memory.rows.count, "attention: queries of ", queries.count, " sentences cannot look at keys of ",
          memory.rows.count, "; both sides of a batch must hold the same sentences");
  auto y = tape.template make<Width>(q.rows());
  const AttentionArgs<Device> forward{.q = q.value,
                                      .k = memory.keys.value,
                                      .v = memory.values.value,
                                      .queries = queries,
                                      .keys = memory.rows,
                                      .heads = options.heads,
                                      .scale = options.scale,
                                      .causal = options.causal,
                                      .dropout = tape.dropout(options.dropout),
                                      .y = y.value,
                                      .lse = tape.template array<typename Device::Real>(q.rows() * options.heads)};
  attention(tape.device, forward);
  tape.on_backward(y, [=, k = memory.keys, v = memory.values](Tape<Device>& back, auto dy) {
    attention_gradient(back.device,
                       {.forward = forward, .dy = dy, .dq = back.sink(q), .dk = back.sink(k), .dv = back.sink(v)});
  });
  return y;
}

}  // namespace attn
