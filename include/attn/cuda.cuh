#pragma once

/// The CUDA backend: the device Cuda<bfloat16> or Cuda<float>, and the kernels of every op. For nvcc, which must not see
/// attn/cpu.hpp.

#include "attn/cuda/attention.cuh"
#include "attn/cuda/decoding.cuh"
#include "attn/cuda/device.cuh"
#include "attn/cuda/embedding.cuh"
#include "attn/cuda/expression.cuh"
#include "attn/cuda/input_feeding.cuh"
#include "attn/cuda/layer_norm.cuh"
#include "attn/cuda/linear.cuh"
#include "attn/cuda/lstm.cuh"
#include "attn/cuda/optimisers.cuh"
#include "attn/cuda/ragged_product.cuh"
#include "attn/cuda/ragged_projection.cuh"
#include "attn/cuda/reductions.cuh"
#include "attn/cuda/rowwise.cuh"
#include "attn/cuda/softmax.cuh"
#include "attn/cuda/support/convert.cuh"
#include "attn/cuda/support/step_graph.cuh"
#include "attn/ops/decoding.hpp"
#include "attn/ops/op_list.hpp"
#include "attn/parallel/through_host.cuh"

#ifdef ATTN_OPS_ELSEWHERE
namespace attn {
ATTN_OP_LIST(extern template, Cuda<float>)
ATTN_OP_LIST(extern template, Cuda<bfloat16>)
}  // namespace attn
#endif
