#pragma once
#include "attn/cuda/tuning.cuh"

namespace attn {

/// A matrix product, by the plan for its shape; the first of a shape makes the plan.
template <class T, class In, class Out>
void gemm(Cuda<T>& device, const GemmArgs<In, Out>& args) {
  if (args.c.rows == 0 || args.c.cols == 0) return;
  const bool no_terms = (args.a_turned ? args.a.rows : args.a.cols) == 0;
  if (no_terms && args.add) return;
  require(!no_terms, "gemm: a product of ", args.c.rows, " x ", args.c.cols, " has no terms to sum");
  const auto key = gemm_detail::key(args, device.options().tf32);
  gemm_detail::Description<In, Out> description(args, device.options().tf32);
  if (const auto* algorithm = device.plans.find(key))
    if (gemm_detail::run(device, args, description, *algorithm) == CUBLAS_STATUS_SUCCESS) return;
  // A new shape; or one that its plan, made for another number of rows, does not fit.
  if (device.plans.find(key) == nullptr) {
    device.plans.set(key, gemm_detail::choose(device, args, true));
    if (gemm_detail::run(device, args, description, *device.plans.find(key)) == CUBLAS_STATUS_SUCCESS) return;
  }
  device.plans.set(key, gemm_detail::choose(device, args, false));
  check(gemm_detail::run(device, args, description, *device.plans.find(key)), "product");
}

}  // namespace attn
