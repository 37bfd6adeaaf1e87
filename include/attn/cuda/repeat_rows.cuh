#pragma once
#include "attn/cuda/reduce_rows.cuh"
#include "attn/ops/move_rows.hpp"

// Repeating a row is the gradient of a sum of rows, and vice versa.

namespace attn {

template <class T>
void repeat_rows(Cuda<T>& device, const RepeatRowsArgs<Cuda<T>>& args) {
  spread_to_rows(
      device, "repeat_rows",
      ReduceRowsGradientArgs<Cuda<T>>{.kind = RowReduction::sum, .rows = args.rows, .dy = args.x, .dx = Sink<T>{args.y}});
}

template <class T>
void repeat_rows_gradient(Cuda<T>& device, const RepeatRowsGradientArgs<Cuda<T>>& args) {
  reduce_rows_into(device, "repeat_rows_gradient", RowReduction::sum, args.dy, args.rows, args.dx);
}

}  // namespace attn
