#pragma once
#include "attn/cuda/matmul/few_rows.cuh"
#include "attn/cuda/matmul/gemm.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/linear.hpp"

namespace attn {

template <class T>
void linear(Cuda<T>& device, const LinearArgs<Cuda<T>>& args) {
  if constexpr (std::is_same_v<T, bfloat16>)
    if (of_few_rows(device, args)) return linear_of_few_rows(device, args);
  const auto epilogue = args.bias != nullptr ? (args.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                                             : (args.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  gemm(device,
       GemmArgs<T, T>{
           .a = args.x, .b = args.weight, .b_transposed = true, .c = args.y, .epilogue = epilogue, .bias = args.bias});
}

template <class T>
void linear_input_gradient(Cuda<T>& device, const LinearInputGradientArgs<Cuda<T>>& args) {
  const Matrix<T> dx = args.dx.to;
  gemm(device, GemmArgs<T, T>{.a = args.dy, .b = args.weight, .c = dx, .alpha = args.scale, .add = args.dx.add});
  if (!args.gate.empty()) column_sums<T>(device, dx, args.sums, args.gate, dx.data);
}

template <class T>
void linear_weight_gradient(Cuda<T>& device, const LinearWeightGradientArgs<Cuda<T>>& args) {
  gemm(device,
       GemmArgs<T, float>{
           .a = args.dy, .a_transposed = true, .b = args.x, .c = args.dweight, .add = true, .rows_are_terms = true});
  if (args.dbias != nullptr) column_sums(device, args.dy, args.dbias);
}

}  // namespace attn
