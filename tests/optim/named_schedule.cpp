#include "attn/optim/named_schedule.hpp"

#include <doctest/doctest.h>

using namespace attn;
using doctest::Approx;

namespace {
Approx close(double value) { return Approx(value).epsilon(1e-13).scale(0); }
constexpr ScheduleOptions options{.rate = 2e-3, .warmup = 100, .steps = 1000, .width = 64};
}  // namespace

TEST_CASE("A schedule's name gives the schedule, with the rate as its peak") {
  CHECK(named_schedule("constant", options)(777) == 2e-3);
  const auto step = named_schedule("step", options);
  CHECK(step(100) == 2e-3);
  CHECK(step(101) == close(1e-3));
  CHECK(step(201) == close(5e-4));
  const auto cosine = named_schedule("warmup-cosine", options);
  CHECK(cosine(1) == close(2e-6));
  CHECK(cosine(101) == close(2e-3));
  CHECK(cosine(1000) == close(2e-5));
  const auto root = named_schedule("inverse-sqrt", options);
  CHECK(root(1) == close(2e-5));
  CHECK(root(100) == close(2e-3));
  CHECK(root(400) == close(1e-3));
}

TEST_CASE("A schedule that does not exist is an error that names those that do") {
  CHECK_THROWS_WITH_AS(named_schedule("cosine", options),
                       "there is no schedule 'cosine': use constant, step, warmup-cosine or inverse-sqrt", Error);
}
