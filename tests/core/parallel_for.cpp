#include "attn/core/parallel_for.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace attn;

TEST_CASE("parallel_for calls each number once, on any number of threads") {
  for (const Index threads : {1, 2, 3, 8, 100}) {
    std::vector<std::atomic<int>> calls(37);
    parallel_for(37, threads, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
    for (const auto& count : calls) CHECK(count == 1);
  }
  parallel_for(0, 4, [](Index) { FAIL("there is nothing to call"); });
}

TEST_CASE("of the exceptions that parallel_for meets, the one of the lowest number arrives") {
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
