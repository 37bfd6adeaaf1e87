#pragma once
#include "attn/ops/attention.hpp"
#include "cuda/attention_case.hpp"

/// width, value_width, causal; bound: of queries and keys; weight: of u; add: to what the gradients' places hold. In bfloat16 the
/// hardware's tanh, whose error is a quarter of a rounding, is what scores are made of: they, and what only depends on them, are
/// numbers of that precision though they are kept in float.
template <class Device>
Results additive_attention_case(Device& device, const OpCase& test, Precision precision) {
  const AttentionRows<Device> rows(device, test, precision);
  const attn::Index width = test.size("width"), values = test.size("value_width", width);
  const bool add = test.flag("add");
  const double bound = test.number("bound", 1);
  const auto q = rows.of_queries(width, 1, bound), dy = rows.of_queries(values, 4), y = rows.of_queries(values, 0);
  const auto k = rows.of_keys(width, 2, bound), v = rows.of_keys(values, 3);
  const Activations<Device> u(device, 1, width, operand(width, 8, precision, test.number("weight", 1)));
  const Reals<Device> lse(device, rows.queries.rows(), 1), du(device, 1, width, operand(width, 10, precision)),
      weights(device, rows.queries.rows(), attn::Ragged(rows.keys).longest);
  const attn::AttentionArgs<Device> forward{.q = q,
                                            .k = k,
                                            .v = v,
                                            .u = u.data(),
                                            .queries = rows.queries,
                                            .keys = rows.keys,
                                            .causal = test.flag("causal"),
                                            .y = y,
                                            .lse = lse.data()};
  attention(device, forward);
  attention_weights(device, {forward, weights});
  const auto dq = rows.of_queries(width, add ? 5 : 0);
  const auto dk = rows.of_keys(width, add ? 6 : 0), dv = rows.of_keys(values, add ? 7 : 0);
  attention_gradient(device,
                     {.forward = forward, .dy = dy, .dq = {dq, add}, .dk = {dk, add}, .dv = {dv, add}, .du = du.data()});
  return {{"y", y.read("y")},
          {.name = "lse", .numbers = lse.read("lse"), .floor = 0x1p-21},
          {.name = "weights", .numbers = weights.read("weights"), .floor = 0x1p-22},
          {"dq", dq.read("dq")},
          {"dk", dk.read("dk")},
          // Few numbers, each a sum over all queries and keys: which order of adding is the luckier is chance.
          {.name = "du", .numbers = du.read("du"), .in_float = true, .floor = 0x1p-22},
          {"dv", dv.read("dv")}};
}
