#pragma once
#include <ostream>
#include <string>

#include "attn/run/model_registry.hpp"

namespace attn {

/// Says on a stream where the program will run, as --device names or means it. What is not there is an Error now and not
/// after the text has been read.
inline void say_device(std::ostream& out, const DeviceOptions& device) {
  models().check(device);
  const std::string on = backend(device);
  const GpuSupport gpus = gpu_support();
  if (on.starts_with("cuda"))
    out << gpus.found() << "; this run is on GPU " << device.gpu << ", in " << on.substr(5) << "\n";
  else if (device.device == "auto" && gpus.found != nullptr)
    out << gpus.found() << "; this run is on the CPU\n";
}

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the models
#include "attn/run/models.hpp"
#endif
