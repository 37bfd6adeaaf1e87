#include "common/run_statistics.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace attn;

TEST_CASE("run statistics: mean and sample standard deviation") {
  const RunStatistics statistics(std::vector{2.0, 4.0, 9.0});
  CHECK(statistics.mean == doctest::Approx(5).epsilon(1e-14));
  CHECK(statistics.deviation == doctest::Approx(3.605551275463989).epsilon(1e-14));  // sqrt(13)
  CHECK(statistics.runs == 3);
  CHECK(statistics.to_string(2) == "5.00 ± 3.61");
}

TEST_CASE("run statistics: one run has no deviation and no runs have no figures") {
  const RunStatistics one(std::vector{10.914});
  CHECK((one.deviation == 0 && one.to_string(2) == "10.91"));
  const RunStatistics none(std::vector<double>{});
  CHECK((none.mean == 0 && none.deviation == 0 && none.runs == 0));
}
