#pragma once
#include "attn/cuda/matmul/tuning.cuh"

namespace attn {

/// A matrix product, by the plan for its shape; the first of a shape makes the plan.
template <class T, class In, class Out>
void gemm(Cuda<T>& device, const GemmArgs<In, Out>& args) {
  if (args.c.rows == 0 || args.c.cols == 0) return;
  const bool no_terms = (args.a_transposed ? args.a.rows : args.a.cols) == 0;
  if (no_terms && args.add) return;
  require(!no_terms, "gemm: a product of ", args.c.rows, " x ", args.c.cols, " has no terms to sum");
  device.use();
  const bool tf32 = device.options().tf32;
  gemm_detail::Description<In, Out> description(args, tf32);
  // By the plan for all rows that round alike; where its algorithm refuses, by one for these rows alone. A batch of products of
  // one shape has no such rows.
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (const bool round : {true, false}) {
    if (round && args.repeat.count > 1) continue;
    const auto key = gemm_detail::key(args, tf32, round);
    const cublasLtMatmulAlgo_t* algorithm = device.plans.find(key);
    if (algorithm == nullptr) algorithm = &device.plans.set(key, gemm_detail::choose(device, args, round));
    status = gemm_detail::run(device, args, description, *algorithm);
    if (status == CUBLAS_STATUS_SUCCESS) return;
  }
  check(status, "product");
}

}  // namespace attn
