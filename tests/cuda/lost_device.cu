#include <doctest/doctest.h>

#include "attn/cuda/support/error.cuh"
#include "support/errors.hpp"

TEST_CASE("lost device: what a kernel or a GPU that went wrong says, and what helps") {
  const auto said = [](cudaError_t status) { return error_of([&] { attn::check(status, "adam"); }); };
  for (const cudaError_t status : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable})
    CHECK(contains(said(status), "; the GPU is lost to this process: start it again, and go on from the last checkpoint"));
  CHECK(contains(said(cudaErrorIllegalAddress),
                 "CUDA, adam: an illegal memory access was encountered (cudaErrorIllegalAddress)"));
  CHECK_FALSE(contains(said(cudaErrorMemoryAllocation), "lost"));
  CHECK(said(cudaSuccess).empty());
}
