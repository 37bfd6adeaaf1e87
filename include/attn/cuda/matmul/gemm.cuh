#pragma once
#include "attn/cuda/matmul/product.cuh"

namespace attn {
namespace gemm_detail {

/// cuBLASLt's preferred algorithm. `round`: for all row counts that round to the same size, so that the choice does not
/// depend on which batch comes first. In-place reductions are excluded: partial sums must be added in a fixed order.
template <class T, class In, class Out>
cublasLtMatmulAlgo_t choose(Cuda<T>& device, GemmArgs<In, Out> args, bool round) {
  if (round) set_changing_rows(args, Plans::rounded(changing_rows(args)));
  Description<In, Out> description(args, device.options().tf32);
  cublasLtMatmulPreferenceOpaque_t preference;
  check_cuda(cublasLtMatmulPreferenceInit(&preference), "product");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check_cuda(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof(value)), "product");
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
  gemm_detail::Description<In, Out> description(args, tf32);
  // Try the plan for all row counts that round to the same size; if its algorithm refuses, the one for this row count.
  // Batched products use only the latter.
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (const bool round : {true, false}) {
    if (round && args.repeat.count > 1) continue;
    const auto key = gemm_detail::key(args, tf32, round);
    const cublasLtMatmulAlgo_t* algorithm = device.plans.find(key);
    if (algorithm == nullptr) algorithm = &device.plans.set(key, gemm_detail::choose(device, args, round));
    status = gemm_detail::run(device, args, description, *algorithm);
    if (status == CUBLAS_STATUS_SUCCESS) return;
  }
  check_cuda(status, "product");
}

}  // namespace attn
