#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "attn/core/types.hpp"
#include "attn/run/stop_signal.hpp"

namespace attn {

/// Calls run(i) for every i below `count`, in order and `at_a_time` of them in threads of their own, until the program is asked
/// to stop (stop_signal). What a run throws ends that run alone: failed(i, error) hears of it, one call at a time. Returns how
/// many failed.
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
  threads.clear();  // waits for them
  return failures;
}

}  // namespace attn
