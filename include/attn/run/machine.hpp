#pragma once
#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <thread>

#include "attn/core/format_count.hpp"

namespace attn {

/// "AMD EPYC 9654, 16 cores"; the architecture if the system does not name the processor.
inline std::string processor_name() {
  std::string name = "unknown processor";
  if (utsname system; ::uname(&system) == 0) name = system.machine;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name") && line.find(": ") != line.npos) name = line.substr(line.find(": ") + 2);
  return name + ", " + counted(std::thread::hardware_concurrency(), "core");
}

}  // namespace attn
