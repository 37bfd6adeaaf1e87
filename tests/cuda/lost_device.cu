#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "attn/cuda/device.cuh"
#include "cuda/devices.hpp"
#include "support/errors.hpp"

namespace {

const std::string lost = "; this process can no longer use the GPU. Restart it with --resume";

__global__ void write_to(int* address) { *address = 1; }

}  // namespace

TEST_CASE("lost device: CUDA status codes map to the right messages") {
  const auto said = [](cudaError_t status) { return error_of([&] { attn::check_cuda(status, "adam"); }); };
  for (const cudaError_t status : {cudaErrorLaunchFailure, cudaErrorECCUncorrectable}) CHECK(contains(said(status), lost));
  CHECK_FALSE(contains(said(cudaErrorMemoryAllocation), "lost"));
  CHECK(said(cudaSuccess).empty());
}

// Only runs in the child process of the next case: afterwards its process cannot use the GPU.
TEST_CASE("lost device: a kernel writes to address 0" * doctest::skip()) {
  attn::Cuda<float> device;
  float* const numbers = device.workspace<float>(4);
  float copy[4];
  write_to<<<1, 1, 0, device.stream()>>>(nullptr);
  std::printf("first: %s\n", error_of([&] { device.synchronize(); }).c_str());
  std::printf("later: %s\n", error_of([&] { device.download(copy, numbers, 4); }).c_str());
}

TEST_CASE("lost device: an illegal access is reported by every later call and the process exits normally") {
  if (!is_here<CudaFloat>()) return;
  std::FILE* const child =
      ::popen("exec /proc/$PPID/exe --no-skip --test-case='lost device: a kernel writes to address 0'", "r");
  REQUIRE(child != nullptr);
  std::string output;
  char some[256];
  while (std::fgets(some, sizeof some, child) != nullptr) output += some;
  const int status = ::pclose(child);
  CAPTURE(output);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);  // device and memory are destroyed after the error
  const std::string illegal = ": an illegal memory access was encountered (cudaErrorIllegalAddress)" + lost;
  CHECK(contains(output, "first: CUDA, waiting for the GPU" + illegal));
  CHECK(contains(output, "later: CUDA, download" + illegal));
}
