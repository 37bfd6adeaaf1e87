#pragma once
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Threads that share the tasks of loops. The caller is one of them and takes any task that has not started, so a loop
/// does not wait for a thread that has no core. Threads start with the first loop; idle ones spin for a moment, then sleep.
/// One loop at a time: a task must not call run(), and two threads that call it need two pools.
class ThreadPool {
 public:
  explicit ThreadPool(int threads) : threads_(threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    stop_ = true;
    ++loops_;
    loops_.notify_all();
  }

  int threads() const { return threads_; }

  /// Calls work(task, thread) once for each task in [0, tasks) and waits for all of them; the caller's thread is 0. After an
  /// exception no further tasks begin. Rethrows the exception of the lowest task.
  template <class Work>
  void run(Index tasks, const Work& work) {
    if (tasks <= 1 || threads_ <= 1) {
      for (Index task = 0; task < tasks; ++task) work(task, 0);
      return;
    }
    require(tasks <= kMask, "ThreadPool: ", tasks, " tasks are too many; give each more work");
    require(!running_.exchange(true),
            "ThreadPool: a loop is running. Another thread uses this pool or device, or a task calls "
            "an op. Give each thread its own device.");
    const struct Running {
      std::atomic<bool>& flag;
      ~Running() { flag = false; }
    } running{running_};
    while (static_cast<int>(workers_.size()) < threads_ - 1)
      workers_.emplace_back([this, thread = static_cast<int>(workers_.size()) + 1] { serve(thread); });
    work_ = &work;
    call_ = [](const void* w, Index task, int thread) { (*static_cast<const Work*>(w))(task, thread); };
    finished_ = 0;
    tickets_ = static_cast<std::uint64_t>(tasks) << 32;
    ++loops_;
    loops_.notify_all();
    take_tasks(0);
    const int all = static_cast<int>(tasks);
    for (int now = finished_; now != all; now = finished_) wait_for_change(finished_, now);
    failed_task_ = kMask;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static constexpr Index kMask = INT32_MAX;

  void serve(int thread) {
    for (int seen = 0;;) {
      wait_for_change(loops_, seen);
      seen = loops_;
      if (stop_) return;
      take_tasks(thread);
    }
  }

  /// Runs tasks until all have begun. A thread that is late may already take tasks of the next loop.
  void take_tasks(int thread) {
    for (;;) {
      std::uint64_t ticket = tickets_;
      do {
        if ((ticket & kMask) == ticket >> 32) return;
      } while (!tickets_.compare_exchange_weak(ticket, ticket + 1));
      const auto task = static_cast<Index>(ticket & kMask);
      const int tasks = static_cast<int>(ticket >> 32);
      run_task(task, thread);
      if (++finished_ == tasks) finished_.notify_one();
    }
  }
  void run_task(Index task, int thread) {
    if (task > failed_task_) return;  // every lower task has started, so the lowest exception is found
    try {
      call_(work_, task, thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (task < failed_task_) failed_task_ = task, failure_ = std::current_exception();
    }
  }

  /// Waits until `number` is not `seen`: spins for the time of a short op, then sleeps.
  static void wait_for_change(const std::atomic<int>& number, int seen) {
    const auto start = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < 64; ++i) {
        if (number.load(std::memory_order_acquire) != seen) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("isb");  // longer than yield
#endif
      }
    } while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(100));
    number.wait(seen);
  }

  const int threads_;
  std::atomic<std::uint64_t> tickets_ = 0;  // high half: tasks of the loop; low half: the next to begin
  std::atomic<int> finished_ = 0, loops_ = 0;
  std::atomic<bool> stop_ = false, running_ = false;
  const void* work_ = nullptr;
  void (*call_)(const void*, Index, int) = nullptr;
  std::mutex mutex_;
  std::atomic<Index> failed_task_ = kMask;
  std::exception_ptr failure_;
  std::vector<std::jthread> workers_;  // last, so that they end first
};

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
