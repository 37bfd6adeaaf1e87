#include "attn/cpu/device.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

using attn::Cpu;
using attn::Index;

TEST_CASE("cpu: a device uses the given number of threads or all cores") {
  CHECK(Cpu<float>(3).threads() == 3);
  CHECK(Cpu<float>().threads() >= 1);
}

TEST_CASE("cpu: a parallel loop runs every task once on a thread of the device") {
  for (const int threads : {1, 2, 3})
    for (const Index tasks : {0, 1, 2, 100}) {
      Cpu<double> device(threads);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      std::atomic<int> strangers = 0;
      device.parallel(tasks, [&](Index task, int thread) {
        ++runs[static_cast<std::size_t>(task)];
        strangers += thread < 0 || thread >= threads;
      });
      for (const auto& run : runs) CHECK(run == 1);
      CHECK(strangers == 0);
    }
}

TEST_CASE("cpu: parallel ranges cover everything once and split at multiples of the grain") {
  for (const int threads : {1, 2, 3})
    for (const Index count : {0, 1, 15, 16, 31, 100}) {
      Cpu<double> device(threads);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      std::atomic<int> ranges = 0, badly_cut = 0;
      device.parallel_ranges(count, 16, [&](Index first, Index last, int) {
        ++ranges;
        badly_cut += first % 16 != 0 || (last % 16 != 0 && last != count);
        for (Index i = first; i < last; ++i) ++runs[static_cast<std::size_t>(i)];
      });
      for (const auto& run : runs) CHECK(run == 1);
      CHECK(ranges >= 1);
      CHECK(ranges <= threads);
      CHECK(badly_cut == 0);
    }
}

TEST_CASE("cpu: workspaces are separate for each thread and slot and grow only on demand") {
  Cpu<double> device(2);
  double* a = device.workspace(0, 100);
  CHECK(device.workspace(0, 100, 1) != a);
  CHECK(device.workspace(1, 100) != a);
  CHECK(device.workspace(0, 50) == a);
  double* larger = device.workspace(0, 10000);
  larger[9999] = 1;
  CHECK(device.workspace(0, 100) == larger);
}

TEST_CASE("cpu: copies and zeroes values without changing adjacent memory") {
  Cpu<double> device(1);
  const std::vector<double> from{1, 2, 3, 4, 5, 6};
  std::vector<double> there(6), back(6);
  device.upload(there.data(), from.data(), 6);
  device.download(back.data(), there.data(), 6);
  CHECK(back == from);
  device.zero(attn::Matrix<double>(there.data(), 2, 3).columns(1, 1));
  CHECK(there == std::vector<double>{1, 0, 3, 4, 0, 6});
  device.zero(there.data() + 4, 2);
  CHECK(there == std::vector<double>{1, 0, 3, 4, 0, 0});
  device.upload<double>(nullptr, nullptr, 0);
  device.zero<double>(nullptr, 0);
}
