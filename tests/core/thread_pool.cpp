#include "attn/core/thread_pool.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "support/errors.hpp"

using namespace attn;

TEST_CASE("thread pool: runs each task of each loop once on the pool's threads") {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (Index loop = 0; loop < 2000; ++loop) {
      const Index tasks = loop % 7;
      std::vector<std::atomic<int>> calls(7);
      std::atomic<bool> known = true;
      pool.run(tasks, [&](Index task, int thread) {
        ++calls[static_cast<std::size_t>(task)];
        if (thread < 0 || thread >= threads) known = false;
      });
      for (Index task = 0; task < 7; ++task) REQUIRE(calls[static_cast<std::size_t>(task)] == (task < tasks ? 1 : 0));
      REQUIRE(known);
    }
  }
}

TEST_CASE("thread pool: sleeping threads join the next loop") {
  ThreadPool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::set<int> threads;
    pool.run(3, [&](Index, int thread) {
      {
        const std::lock_guard lock(mutex);
        threads.insert(thread);
      }
      for (;;) {  // each task waits for the others, so three threads must run them
        const std::lock_guard lock(mutex);
        if (threads.size() == 3) break;
      }
    });
    CHECK(threads == std::set<int>{0, 1, 2});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // longer than idle threads spin
  }
}

TEST_CASE("thread pool: rethrows the exception of the lowest task and remains usable") {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::string what;
    try {
      pool.run(50, [](Index task, int) {
        if (task == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // others fail earlier
        if (task >= 1) throw std::runtime_error(std::to_string(task));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    CHECK(what == "1");
    std::atomic<Index> sum = 0;
    pool.run(10, [&](Index task, int) { sum += task; });
    CHECK(sum == 45);
  }
}

TEST_CASE("thread pool: rethrows the exception of the lowest task if all tasks fail") {
  ThreadPool pool(4);
  for (int round = 0; round < 5000; ++round) {
    std::string what;
    try {
      pool.run(8, [](Index task, int) {
        if (task > 0) throw std::runtime_error(std::to_string(task));
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    REQUIRE(what == "1");
  }
}

TEST_CASE("thread pool: a nested loop on the same pool is an error") {
  ThreadPool pool(2);
  const std::string what = error_of([&] { pool.run(2, [&](Index, int) { pool.run(2, [](Index, int) {}); }); });
  CHECK(contains(what, "a loop is running"));
  std::atomic<Index> sum = 0;
  pool.run(10, [&](Index task, int) { sum += task; });
  CHECK(sum == 45);
}

TEST_CASE("thread pool: a task may use another pool") {
  ThreadPool outer(2);
  std::atomic<Index> sum = 0;
  outer.run(4, [&](Index task, int) {
    ThreadPool inner(2);
    inner.run(3, [&](Index i, int) { sum += 10 * task + i; });
  });
  CHECK(sum == 192);
}
