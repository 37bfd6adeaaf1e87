#pragma once
#include <cuda_profiler_api.h>

#include "attn/cuda.cuh"
#include "run.hpp"

/// Prints the GPU and the software versions on a line.
template <class Device>
void describe_machine() {
  const Device device;
  int driver = 0;
  attn::check_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
  Run::print({{"name", "machine"},
              {"mode", "attn"},
              {"gpu", device.description()},
              {"cuda", CUDART_VERSION},
              {"driver", driver},
              {"wgmma", device.has_wgmma()}});
}

/// Runs some work three times, marked for a profiler.
template <class Device, class Work>
void run_profiled(Device& device, const Work& work) {
  device.synchronize();
  attn::check_cuda(cudaProfilerStart(), "starting the profiler");
  for (std::size_t i = 0; i < 3; ++i) work(i);
  device.synchronize();
  attn::check_cuda(cudaProfilerStop(), "stopping the profiler");
}
