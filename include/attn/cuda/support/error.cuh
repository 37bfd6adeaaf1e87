#pragma once
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "attn/core/error.hpp"

namespace attn {

using bfloat16 = __nv_bfloat16;

/// Whether this process can no longer use the GPU: a kernel failed, or the GPU is gone.
inline bool is_lost(cudaError_t status) {
  for (const cudaError_t lost :
       {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorLaunchTimeout, cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorHardwareStackError,
        cudaErrorAssert, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorDevicesUnavailable,
        cudaErrorDeviceUninitialized, cudaErrorContextIsDestroyed, cudaErrorSystemNotReady, cudaErrorUnknown})
    if (status == lost) return true;
  return false;
}

/// Throws an Error that names the failed operation.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    fail("CUDA, ", what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")",
         is_lost(status) ? "; this process can no longer use the GPU. Restart it with --resume" : "");
}

/// cuBLASLt does not say why a launch failed, but CUDA does.
inline void check_cuda(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  check_cuda(cudaGetLastError(), what);
  fail("cuBLASLt, ", what, ": ", cublasLtGetStatusString(status));
}

}  // namespace attn
