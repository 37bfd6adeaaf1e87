#pragma once
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/cuda.cuh"
#include "workload.hpp"

using Device = attn::Cuda<attn::bfloat16>;
using Json = nlohmann::ordered_json;  // of a measurement

inline constexpr attn::Index vocabulary = 50272;

/// What was asked for on the command line, and how it went.
struct Run {
  std::vector<std::string> only;  // beginnings of names, or, for a profile, whole names; none: everything
  bool quick = false, profile = false, failed = false;

  bool wants(const std::string& name) const {
    const auto meant = [&](const std::string& word) { return profile ? name == word : name.rfind(word, 0) == 0; };
    return only.empty() || std::any_of(only.begin(), only.end(), meant);
  }
  int repeats(int usually) const { return quick ? 3 : usually; }

  static void print(const Json& line) {
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }

  /// measure(name), if it is wanted. One that fails says so in its line, and the others go on.
  template <class Measure>
  void operator()(const std::string& name, const Measure& measure) {
    if (!wants(name)) return;
    try {
      const double seconds = host_seconds([&] { measure(name); });
      std::fprintf(stderr, "%s: %.1f s in all\n", name.c_str(), seconds);
    } catch (const std::exception& error) {
      failed = true;
      print({{"name", name}, {"mode", "attn"}, {"failed", error.what()}});
    }
  }
};

/// Three runs of some work, marked for a profiler.
template <class Work>
void run_profiled(Device& device, const Work& work) {
  device.synchronize();
  attn::check(cudaProfilerStart(), "starting the profiler");
  for (std::size_t i = 0; i < 3; ++i) work(i);
  device.synchronize();
  attn::check(cudaProfilerStop(), "stopping the profiler");
}
