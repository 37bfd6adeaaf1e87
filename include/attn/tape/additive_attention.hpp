#pragma once
#include "attn/core/parameter.hpp"
#include "attn/ops/additive_attention.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

/// softmax(u · tanh(q + k)) V, for each sentence. Causal as attention is.
template <class Device, int Width, int Value = Width>
Variable<Device, Value> additive_attention(Tape<Device>& tape, Variable<Device, Width> q, Ragged queries,
                                           KeysValues<Device, Width, Value> memory, Parameter<Device> u, bool causal) {
  require(queries.count == memory.rows.count, "attention: queries of ", queries.count, " sentences cannot look at keys of ",
          memory.rows.count, "; both sides of a batch must hold the same sentences");
  auto y = tape.template make<Value>(q.rows());
  const AdditiveAttentionArgs<Device> forward{.q = q.value,
                                              .k = memory.keys.value,
                                              .u = u.values(),
                                              .v = memory.values.value,
                                              .queries = queries,
                                              .keys = memory.rows,
                                              .causal = causal,
                                              .y = y.value,
                                              .lse = tape.template array<typename Device::Real>(q.rows())};
  additive_attention(tape.device, forward);
  if (tape.attention_weights != nullptr)
    additive_attention_weights(tape.device, {forward, note_weights(tape, q.rows(), queries, memory.rows, 1)});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    additive_attention_gradient(back.device, {.forward = forward,
                                              .dy = dy,
                                              .dq = back.sink(q),
                                              .dk = memory_sink(back, memory.keys, memory.rows),
                                              .du = u.gradients(),
                                              .dv = memory_sink(back, memory.values, memory.rows)});
  });
  return y;
}

}  // namespace attn
