#pragma once
#include <cublasLt.h>
#include <cuda_runtime.h>

#include "attn/core/error.hpp"

namespace attn {

/// Turns a status of CUDA into an Error that says what was being done.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail("CUDA, ", what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")");
}

inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("cuBLASLt, ", what, ": ", cublasLtGetStatusString(status));
}

}  // namespace attn
