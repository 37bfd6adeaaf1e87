#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "attn/core/types.hpp"
#include "common/stop_signal.hpp"

namespace attn {

/// Calls run(i) for all i < `count`, in order, on `at_a_time` threads, until a stop is requested (stop_signal). An
/// exception ends only its own run and calls failed(i, error), serialized. Returns the number of failures.
template <class Run, class Failed>
Index run_several(Index count, int at_a_time, const Run& run, const Failed& failed) {
  std::atomic<Index> next = 0;
  Index failures = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (Index i; (i = next++) < count && stop_signal() == 0;) {
      try {
        run(i);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        ++failures;
        failed(i, error);
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < at_a_time; ++i) threads.emplace_back(work);
  work();
  threads.clear();  // joins them
  return failures;
}

}  // namespace attn
