#pragma once
#include "attn/ops/ragged_product.hpp"
#include "attn/tape/expression.hpp"

namespace attn {

// Matrix products of two activations, per sentence. Attention in terms of these ops:
//
//     Variable<Device> weights = softmax(ragged_scores(q, queries, k, keys, scale), queries, keys, causal);
//     Variable<Device> y = ragged_mix(weights, queries, v, keys);

/// scale * Q Kᵀ for each sentence: one row per query, one column per key; columns beyond the sentence's keys are 0.
template <Activation Q, Activation K>
auto ragged_scores(const Q& of_queries, Ragged queries, const K& of_keys, Ragged keys, double scale = 1) {
  using Device = typename Q::DeviceType;
  const Variable<Device> q = evaluated(of_queries), k = evaluated(of_keys);
  require(q.cols() == k.cols(), "ragged_scores: queries of ", q.cols(), " columns and keys of ", k.cols());
  require(queries.count == keys.count, "ragged_scores: queries of ", queries.count, " sentences and keys of ", keys.count);
  check_rows("ragged_scores", q.rows(), queries);
  check_rows("ragged_scores", k.rows(), keys);
  Tape<Device>& tape = innermost(q, k);
  auto y = tape.result(q.rows(), keys.longest, q, k);
  ragged_scores(tape.device,
                {.a = q.value, .a_rows = queries, .b = k.value, .b_rows = keys, .scale = scale, .y = {y.value}});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    if (q.slot != nullptr)
      ragged_mix(back.device,
                 {.a = dy, .a_rows = queries, .b = k.value, .b_rows = keys, .scale = scale, .y = back.sink(q)});
    if (k.slot != nullptr)
      ragged_mix_transposed(back.device,
                            {.a = dy, .a_rows = queries, .b = q.value, .b_rows = keys, .scale = scale, .y = back.sink(k)});
  });
  return y;
}

/// W V for each sentence: one row per query, the sum of the values weighted by its row of W.
template <Activation W, Activation V>
auto ragged_mix(const W& weights, Ragged queries, const V& values, Ragged keys) {
  using Device = typename W::DeviceType;
  const Variable<Device> w = evaluated(weights), v = evaluated(values);
  require(queries.count == keys.count, "ragged_mix: queries of ", queries.count, " sentences and keys of ", keys.count);
  check_rows("ragged_mix", w.rows(), queries);
  check_rows("ragged_mix", v.rows(), keys);
  Tape<Device>& tape = innermost(w, v);
  auto y = tape.result(w.rows(), v.cols(), w, v);
  ragged_mix(tape.device, {.a = w.value, .a_rows = queries, .b = v.value, .b_rows = keys, .y = {y.value}});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    if (w.slot != nullptr)
      ragged_scores(back.device, {.a = dy, .a_rows = queries, .b = v.value, .b_rows = keys, .y = back.sink(w)});
    if (v.slot != nullptr)
      ragged_mix_transposed(back.device, {.a = w.value, .a_rows = queries, .b = dy, .b_rows = keys, .y = back.sink(v)});
  });
  return y;
}

/// E[:, 0:n] x for each sentence of n rows: its length becomes k. With blocks, each block of columns has its own E.
template <class Device>
Variable<Device> ragged_projection(Variable<Device> x, Ragged rows, Parameter<Device> projection, int blocks) {
  Tape<Device>& tape = x.tape();
  require(rows.longest <= projection.cols, "Linformer: a sentence of ", rows.longest,
          " tokens exceeds the projection's n = ", projection.cols, ". Truncate it, or use a larger n.");
  require(blocks > 0 && x.cols() % blocks == 0 && projection.rows % blocks == 0, "ragged_projection: ", x.cols(),
          " columns and a projection of ", projection.rows, " rows are not multiples of ", blocks, " blocks");
  auto y = tape.result(rows.count * projection.rows / blocks, x.cols(), x, projection);
  ragged_projection(tape.device,
                    {.x = x.value, .rows = rows, .projection = projection.matrix(), .blocks = blocks, .y = y.value});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    if (projection.learns())
      ragged_projection_weight_gradient(
          back.device,
          {.dy = dy, .x = x.value, .rows = rows, .blocks = blocks, .dprojection = projection.gradient_matrix()});
    if (x.slot != nullptr)
      ragged_projection_input_gradient(
          back.device, {.dy = dy, .rows = rows, .projection = projection.matrix(), .blocks = blocks, .dx = back.sink(x)});
  });
  return y;
}

}  // namespace attn
