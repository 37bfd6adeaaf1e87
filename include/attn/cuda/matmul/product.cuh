#pragma once
#include "attn/cuda/device.cuh"

// Describes matrix products to cuBLASLt, which is column-major: a row-major matrix is its transpose in column-major order,
// so cuBLASLt computes cᵀ = bᵀ aᵀ.

namespace attn {

/// A strided batch of products of one shape: their number, and the strides of the operands in elements.
struct Repeat {
  Index count = 1, a = 0, b = 0, c = 0;
};

/// c = alpha * a b + (add ? c : 0), then the epilogue. All matrices are row-major; a and b may be stored transposed.
template <class In, class Out>
struct GemmArgs {
  Matrix<const In> a;  // m x k, or k x m transposed
  bool a_transposed = false;
  Matrix<const In> b;  // k x n, or n x k transposed
  bool b_transposed = false;
  Matrix<Out> c;  // m x n
  double alpha = 1;
  bool add = false;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;   // n, for the epilogues that add one
  bool rows_are_terms = false;  // the size that changes with every batch is k, else m
  Repeat repeat = {};
};

namespace gemm_detail {

template <class T>
constexpr cudaDataType_t kType = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16BF;

/// The alignment of a matrix's rows in bytes: a power of two, at most 16.
template <class T>
Index alignment(Matrix<T> matrix) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(matrix.data) | static_cast<std::uintptr_t>(matrix.stride) * sizeof(T) | 16;
  return static_cast<Index>(bits & ~(bits - 1));
}

/// The cuBLASLt descriptors of a product.
template <class In, class Out>
struct Description {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t first, second, result;  // b, a, c

  Description(const GemmArgs<In, Out>& args, bool tf32) {
    const bool fast = std::is_same_v<In, float> && tf32;
    check_cuda(cublasLtMatmulDescInit(&operation, fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
               "product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, args.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, args.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, args.epilogue);
    if (args.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.bias);
    lay(first, args.b, args.repeat.count, args.repeat.b);
    lay(second, args.a, args.repeat.count, args.repeat.a);
    lay(result, args.c, args.repeat.count, args.repeat.c);
  }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t what, const Value& value) {
    check_cuda(cublasLtMatmulDescSetAttribute(&operation, what, &value, sizeof(value)), "product");
  }

 private:
  template <class T>
  static void lay(cublasLtMatrixLayoutOpaque_t& layout, Matrix<T> matrix, Index count, Index step) {
    check_cuda(cublasLtMatrixLayoutInit(&layout, kType<std::remove_const_t<T>>, static_cast<std::uint64_t>(matrix.cols),
                                        static_cast<std::uint64_t>(matrix.rows), matrix.stride),
               "product");
    if (count == 1) return;
    const auto products = static_cast<std::int32_t>(count);
    check_cuda(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &products, sizeof products),
               "product");
    check_cuda(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step),
               "product");
  }
};

template <class T, class In, class Out>
cublasStatus_t run(Cuda<T>& device, const GemmArgs<In, Out>& args, Description<In, Out>& description,
                   const cublasLtMatmulAlgo_t& algorithm) {
  const float alpha = static_cast<float>(args.alpha), beta = args.add ? 1 : 0;
  return cublasLtMatmul(device.cublas(), &description.operation, &alpha, args.b.data, &description.first, args.a.data,
                        &description.second, &beta, args.c.data, &description.result, args.c.data, &description.result,
                        &algorithm, device.plans.workspace(), Plans::kWorkspace, device.stream());
}

/// The size that changes with every batch.
template <class In, class Out>
Index changing_rows(const GemmArgs<In, Out>& args) {
  return args.rows_are_terms ? args.b.rows : args.c.rows;
}
template <class In, class Out>
void set_changing_rows(GemmArgs<In, Out>& args, Index rows) {
  args.a.rows = rows;
  (args.rows_are_terms ? args.b.rows : args.c.rows) = rows;
}

/// Everything that the choice of an algorithm depends on. `round`: the same for all row counts that round to the same size.
template <class In, class Out>
Plans::Key key(const GemmArgs<In, Out>& args, bool tf32, bool round) {
  const Index k = args.a_transposed ? args.a.rows : args.a.cols;
  const Index kinds = (args.a_transposed ? 1 : 0) + (args.b_transposed ? 2 : 0) + (std::is_same_v<In, float> ? 4 : 0) +
                      (std::is_same_v<Out, float> ? 8 : 0) + (tf32 ? 16 : 0);
  return {kinds,
          static_cast<Index>(args.epilogue),
          round && !args.rows_are_terms ? Plans::rounded(args.c.rows) : args.c.rows,
          args.c.cols,
          round && args.rows_are_terms ? Plans::rounded(k) : k,
          args.a.stride,
          args.b.stride,
          args.c.stride,
          alignment(args.a),
          alignment(args.b),
          alignment(args.c),
          args.repeat.count};
}

}  // namespace gemm_detail
}  // namespace attn
