#pragma once
#include <cublasLt.h>
#include <cuda_runtime.h>

#include "attn/core/error.hpp"

namespace attn {

/// Whether nothing more can be computed on the GPU by this process: a kernel went wrong, or the GPU is gone.
inline bool is_lost(cudaError_t status) {
  for (const cudaError_t lost :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout, cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorHardwareStackError,
        cudaErrorAssert, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorDevicesUnavailable,
        cudaErrorDeviceUninitialized, cudaErrorContextIsDestroyed, cudaErrorSystemNotReady, cudaErrorUnknown})
    if (status == lost) return true;
  return false;
}

/// Turns a status of CUDA into an Error that says what was being done.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    fail("CUDA, ", what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")",
         is_lost(status) ? "; the GPU is lost to this process: start it again, and go on from the last checkpoint" : "");
}

inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("cuBLASLt, ", what, ": ", cublasLtGetStatusString(status));
}

}  // namespace attn
