#pragma once
#include "attn/ops/attention.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

/// softmax(u · tanh(q + k)) V for each sentence. Causal as in attention().
template <class Device>
Variable<Device> additive_attention(Variable<Device> q, Ragged queries, KeysValues<Device> memory, Parameter<Device> u,
                                    bool causal) {
  Tape<Device>& tape = q.tape();
  check_attention(q, queries, memory);
  require(u.size() == q.cols(), "additive_attention: queries of ", q.cols(), " columns for a vector of ", u.size());
  auto y = tape.result(q.rows(), memory.values.cols(), q, memory.keys, memory.values, u);
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
    const Index covered = memory.rows.rows;
    const SinkOrScratch<Device> dq(back, q), dk(back, memory.keys, covered), dv(back, memory.values, covered);
    const GradientOrScratch<Device> du(back, u);
    additive_attention_gradient(back.device, {.forward = forward, .dy = dy, .dq = dq, .dk = dk, .du = du, .dv = dv});
  });
  return y;
}

}  // namespace attn
