#pragma once
#include "attn/cuda/support/launch.cuh"

namespace attn {

/// launch() for a kernel with a grid barrier: all blocks run concurrently, or the launch fails.
template <class Device, class... Parameters, class... Arguments>
void launch_cooperative(Device& device, const char* what, Spread spread, void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (spread.blocks.x == 0 || spread.blocks.y == 0 || spread.blocks.z == 0) return;
  const cudaStream_t stream = device.stream();
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  const auto start = [&](Parameters... parameters) {
    void* places[] = {static_cast<void*>(&parameters)...};
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), spread.blocks, dim3(spread.threads),
                                           places, spread.shared, stream),
               what);
  };
  start(static_cast<Parameters>(arguments)...);
}

}  // namespace attn
