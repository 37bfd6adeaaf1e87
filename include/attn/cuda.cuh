#pragma once

/// The CUDA backend: the device Cuda<bfloat16> or Cuda<float>, and the kernels of every op, for nvcc, which must not see
/// attn/cpu.hpp. Other compilers see the device and the declarations of the ops. The program then needs a .cu file that
/// instantiates the ops and the expressions of its models, like src/cuda_ops_float.cu.

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/step_graph.cuh"
#include "attn/ops/op_list.hpp"
#include "attn/parallel/through_host.cuh"
#ifdef __CUDACC__
#include "attn/cuda/attention.cuh"
#include "attn/cuda/decoding.cuh"
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
#endif

namespace attn {
#ifndef __CUDACC__
ATTN_OP_LIST(template <class T>, Cuda<T>)
template <class T>
void convert(Cuda<T>& device, const float* values, T* compute, Index count);
template <class T, class E>
void evaluate_expression(Cuda<T>& device, const ExpressionArgs<Cuda<T>, E>& args);
template <class T, class E>
void evaluate_expression_gradient(Cuda<T>& device, const ExpressionGradientArgs<Cuda<T>, E>& args);
#elif defined(ATTN_OPS_ELSEWHERE)
ATTN_OP_LIST(extern template, Cuda<float>)
ATTN_OP_LIST(extern template, Cuda<bfloat16>)
#endif
}  // namespace attn
