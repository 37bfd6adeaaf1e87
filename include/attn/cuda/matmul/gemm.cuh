#pragma once
#include "attn/cuda/device.cuh"

// Matrix products by cuBLASLt, which is column-major: a row-major matrix is its transpose in column-major order,
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

inline void check(cublasStatus_t status) { check_cuda(status, "product"); }

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
    check(cublasLtMatmulDescInit(&operation, fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
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
    check(cublasLtMatmulDescSetAttribute(&operation, what, &value, sizeof(value)));
  }

 private:
  template <class T>
  static void lay(cublasLtMatrixLayoutOpaque_t& layout, Matrix<T> matrix, Index count, Index step) {
    check(cublasLtMatrixLayoutInit(&layout, kType<std::remove_const_t<T>>, static_cast<std::uint64_t>(matrix.cols),
                                   static_cast<std::uint64_t>(matrix.rows), matrix.stride));
    if (count == 1) return;
    const auto products = static_cast<std::int32_t>(count);
    check(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &products, sizeof products));
    check(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step));
  }
};

/// The same product with its changing size rounded up, so that the choice of an algorithm does not depend on which batch
/// comes first.
template <class In, class Out>
GemmArgs<In, Out> rounded(GemmArgs<In, Out> args) {
  Index& size = args.rows_are_terms ? args.b.rows : args.c.rows;
  args.a.rows = size = Plans::rounded(size);
  return args;
}

/// Everything that the choice of an algorithm depends on.
template <class In, class Out>
Plans::Key key(const GemmArgs<In, Out>& args, bool tf32) {
  const Index kinds = (args.a_transposed ? 1 : 0) + (args.b_transposed ? 2 : 0) + (std::is_same_v<In, float> ? 4 : 0) +
                      (std::is_same_v<Out, float> ? 8 : 0) + (tf32 ? 16 : 0);
  return {kinds,
          static_cast<Index>(args.epilogue),
          args.c.rows,
          args.c.cols,
          args.a_transposed ? args.a.rows : args.a.cols,
          args.a.stride,
          args.b.stride,
          args.c.stride,
          alignment(args.a),
          alignment(args.b),
          alignment(args.c),
          args.repeat.count};
}

/// cuBLASLt's preferred algorithm. In-place reductions are excluded: partial sums must be added in a fixed order.
template <class T, class In, class Out>
cublasLtMatmulAlgo_t choose(Cuda<T>& device, const GemmArgs<In, Out>& args) {
  Description<In, Out> description(args, device.options().tf32);
  cublasLtMatmulPreferenceOpaque_t preference;
  check(cublasLtMatmulPreferenceInit(&preference));
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof(value)));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{Plans::kWorkspace});
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<std::uint32_t>(alignment(args.b)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<std::uint32_t>(alignment(args.a)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<std::uint32_t>(alignment(args.c)));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<std::uint32_t>(alignment(args.c)));
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  check_cuda(
      cublasLtMatmulAlgoGetHeuristic(device.cublas(), &description.operation, &description.first, &description.second,
                                     &description.result, &description.result, &preference, 1, &result, &found),
      "asking for algorithms");
  require(found > 0, "cuBLASLt has no algorithm for a product of ", args.c.rows, " x ", args.c.cols, " with row strides ",
          args.a.stride, ", ", args.b.stride, " and ", args.c.stride);
  return result.algo;
}

}  // namespace gemm_detail

/// Computes a matrix product by the plan for its shape; the first product of a shape creates the plan.
template <class T, class In, class Out>
void gemm(Cuda<T>& device, const GemmArgs<In, Out>& args) {
  if (args.c.rows == 0 || args.c.cols == 0) return;
  const bool no_terms = (args.a_transposed ? args.a.rows : args.a.cols) == 0;
  if (no_terms && args.add) return;
  require(!no_terms, "gemm: a product of ", args.c.rows, " x ", args.c.cols, " has no terms to sum");
  device.use();
  const bool tf32 = device.options().tf32;
  const float alpha = static_cast<float>(args.alpha), beta = args.add ? 1 : 0;
  gemm_detail::Description<In, Out> description(args, tf32);
  // Try the plan for all row counts that round to the same size; if its algorithm refuses, the one for this row count.
  // Batched products use only the latter.
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (const bool round : {true, false}) {
    if (round && args.repeat.count > 1) continue;
    const GemmArgs<In, Out> shape = round ? gemm_detail::rounded(args) : args;
    const auto key = gemm_detail::key(shape, tf32);
    const cublasLtMatmulAlgo_t* algorithm = device.plans.find(key);
    if (algorithm == nullptr) algorithm = &device.plans.set(key, gemm_detail::choose(device, shape));
    status = cublasLtMatmul(device.cublas(), &description.operation, &alpha, args.b.data, &description.first, args.a.data,
                            &description.second, &beta, args.c.data, &description.result, args.c.data, &description.result,
                            algorithm, device.plans.workspace(), Plans::kWorkspace, device.stream());
    if (status == CUBLAS_STATUS_SUCCESS) return;
  }
  check_cuda(status, "product");
}

}  // namespace attn
