#pragma once

/// The CUDA backend: the device Cuda<bfloat16> or Cuda<float>, and the kernels of every op. For nvcc, which must not see
/// attn/cpu.hpp.

#include "attn/cuda/adam.cuh"
#include "attn/cuda/additive_attention.cuh"
#include "attn/cuda/argmax.cuh"
#include "attn/cuda/attention.cuh"
#include "attn/cuda/beam_step.cuh"
#include "attn/cuda/copy_rows.cuh"
#include "attn/cuda/cross_entropy.cuh"
#include "attn/cuda/device.cuh"
#include "attn/cuda/dropout.cuh"
#include "attn/cuda/embedding.cuh"
#include "attn/cuda/expression.cuh"
#include "attn/cuda/fill.cuh"
#include "attn/cuda/gather_rows.cuh"
#include "attn/cuda/greedy_step.cuh"
#include "attn/cuda/input_feeding.cuh"
#include "attn/cuda/kl_divergence.cuh"
#include "attn/cuda/layer_norm.cuh"
#include "attn/cuda/linear.cuh"
#include "attn/cuda/lstm.cuh"
#include "attn/cuda/lstm_cell.cuh"
#include "attn/cuda/moving_average.cuh"
#include "attn/cuda/ragged_product.cuh"
#include "attn/cuda/ragged_projection.cuh"
#include "attn/cuda/reduce_all.cuh"
#include "attn/cuda/reduce_columns.cuh"
#include "attn/cuda/reduce_rows.cuh"
#include "attn/cuda/repeat_heads.cuh"
#include "attn/cuda/repeat_rows.cuh"
#include "attn/cuda/rotary.cuh"
#include "attn/cuda/scatter_rows.cuh"
#include "attn/cuda/sgd.cuh"
#include "attn/cuda/softmax.cuh"
#include "attn/cuda/sum_of_squares.cuh"
#include "attn/cuda/support/convert.cuh"
#include "attn/cuda/support/step_graph.cuh"
#include "attn/cuda/top_k.cuh"
#include "attn/ops/decoding.hpp"
#include "attn/ops/op_list.hpp"
#include "attn/parallel/through_host.cuh"

#ifdef ATTN_OPS_ELSEWHERE
namespace attn {
ATTN_OP_LIST(extern template, Cuda<float>)
ATTN_OP_LIST(extern template, Cuda<bfloat16>)
}  // namespace attn
#endif
