#pragma once
#include <algorithm>
#include <cstdlib>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

#include "attn/core/thread_pool.hpp"

namespace attn {

/// The number of cores that this process may use (taskset, containers and job schedulers restrict it).
inline Index usable_cores() {
#ifdef __linux__
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
#endif
  return std::max<Index>(1, std::thread::hardware_concurrency());
}

/// The default number of threads: OMP_NUM_THREADS if it is a number above 0, at most 1024, otherwise one per usable core.
inline Index all_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const Index threads = wanted == nullptr ? 0 : std::strtoll(wanted, nullptr, 10);
  return threads > 0 ? std::min<Index>(threads, 1024) : usable_cores();
}

/// Calls work(i) once for each i in [0, count) on several threads and waits for all of them. After an exception no further
/// calls start. Rethrows the exception of the lowest i.
void parallel_for(Index count, Index threads, const auto& work) {
  ThreadPool(static_cast<int>(std::min(threads, count))).run(count, [&](Index i, int) { work(i); });
}

}  // namespace attn
