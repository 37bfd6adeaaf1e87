#include "common/run_several.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace attn;

TEST_CASE("run several: each run starts once for any parallelism and a failure stops only itself") {
  for (const int at_a_time : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(9);
    std::string said;
    const Index failures = run_several(
        9, at_a_time,
        [&](Index i) {
          ++runs[static_cast<std::size_t>(i)];
          if (i == 4) throw std::runtime_error("broken");
        },
        [&](Index i, const std::exception& error) { said += std::to_string(i) + " " + error.what(); });
    CHECK(failures == 1);
    CHECK(said == "4 broken");
    for (const auto& one : runs) CHECK(one == 1);
  }
  CHECK(run_several(
            0, 3, [](Index) { FAIL("there is none"); }, [](Index, const std::exception&) {}) == 0);
}

TEST_CASE("run several: starts nothing after a stop request") {
  Index begun = 0;
  run_several(
      5, 1,
      [&](Index i) {
        ++begun;
        if (i == 1) stop_signal() = SIGTERM;
      },
      [](Index, const std::exception&) {});
  CHECK(stop_status() == 143);
  stop_signal() = 0;
  CHECK(begun == 2);
}
