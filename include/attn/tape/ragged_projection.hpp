#pragma once
#include "attn/core/parameter.hpp"
#include "attn/ops/ragged_product.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

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
