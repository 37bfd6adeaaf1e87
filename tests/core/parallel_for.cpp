#include "attn/core/thread_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace attn;

TEST_CASE("parallel_for: calls each index once with any number of threads") {
  for (const Index threads : {1, 2, 3, 8, 100}) {
    std::vector<std::atomic<int>> calls(37);
    parallel_for(37, threads, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& count : calls) CHECK(count == 1);
  }
  parallel_for(0, 4, [](Index) { FAIL("there is nothing to call"); });
}

TEST_CASE("parallel_for: rethrows the exception of the lowest index") {
  for (const Index threads : {1, 4}) {
    std::string what;
    try {
      parallel_for(50, threads, [](Index i) {
        if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // others fail earlier
        if (i >= 1) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    CHECK(what == "1");
  }
}

#ifdef __linux__
TEST_CASE("parallel_for: usable cores follow the CPU affinity of the process") {
  std::thread([] {  // the restriction holds for this thread only
    cpu_set_t before, one;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    CHECK(usable_cores() == CPU_COUNT(&before));
    int core = 0;
    while (!CPU_ISSET(core, &before)) ++core;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(usable_cores() == 1);
  })
      .join();
}
#endif

TEST_CASE("parallel_for: the default thread count is OMP_NUM_THREADS or one per usable core") {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before == nullptr ? "" : before;
  const Index cores = usable_cores();
  ::unsetenv("OMP_NUM_THREADS");
  CHECK(all_threads() == cores);
  for (const auto& [value, threads] :
       {std::pair("37", Index{37}), {"1", 1}, {"0", cores}, {"-2", cores}, {"many", cores}, {"99999999999", 1024}}) {
    ::setenv("OMP_NUM_THREADS", value, 1);
    CHECK(all_threads() == threads);
  }
  before == nullptr ? ::unsetenv("OMP_NUM_THREADS") : ::setenv("OMP_NUM_THREADS", kept.c_str(), 1);
}
