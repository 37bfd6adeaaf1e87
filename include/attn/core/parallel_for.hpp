#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// How many threads work on text unless told: one a core.
inline Index all_threads() { return std::max<Index>(1, std::thread::hardware_concurrency()); }

/// Calls work(i) for i = 0 to count - 1 on several threads, each i once, and returns when all are done. Of calls that throw,
/// the exception of the lowest i arrives here; those that had not begun by then are left out.
template <class Work>
void parallel_for(Index count, Index threads, const Work& work) {
  threads = std::min(threads, count);
  if (threads <= 1) {
    for (Index i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<Index> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  Index failed = count;
  const auto run = [&] {
    for (Index i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) failed = i, failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index i = 1; i < threads; ++i) others.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace attn
