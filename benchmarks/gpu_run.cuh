#pragma once
#include <cuda_profiler_api.h>

#include "attn/cuda.cuh"
#include "run.hpp"

/// What the machine is, in a line of its own.
template <class Device>
void describe_machine() {
  const Device device;
  int driver = 0;
  attn::check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  Run::print({{"name", "machine"},
              {"mode", "attn"},
              {"gpu", device.description()},
              {"cuda", CUDART_VERSION},
              {"driver", driver},
              {"wgmma", device.has_wgmma()}});
}

/// Three runs of some work, marked for a profiler.
template <class Device, class Work>
void run_profiled(Device& device, const Work& work) {
  device.synchronize();
  attn::check(cudaProfilerStart(), "starting the profiler");
  for (std::size_t i = 0; i < 3; ++i) work(i);
  device.synchronize();
  attn::check(cudaProfilerStop(), "stopping the profiler");
}
