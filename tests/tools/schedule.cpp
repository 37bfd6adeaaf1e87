#include "common/schedule.hpp"

#include <doctest/doctest.h>

using namespace attn;
using doctest::Approx;

namespace {
Approx close(double value) { return Approx(value).epsilon(1e-13).scale(0); }
std::function<double(Index)> schedule(ScheduleKind kind) {
  return make_schedule({.kind = kind, .rate = 2e-3, .warmup = 100}, 1000, 64);
}
}  // namespace

TEST_CASE("schedule: every kind peaks at the configured rate") {
  CHECK(schedule(ScheduleKind::constant)(777) == 2e-3);
  const auto step = schedule(ScheduleKind::step);
  CHECK(step(100) == 2e-3);
  CHECK(step(101) == close(1e-3));
  CHECK(step(201) == close(5e-4));
  const auto cosine = schedule(ScheduleKind::warmup_cosine);
  CHECK(cosine(1) == close(2e-6));
  CHECK(cosine(101) == close(2e-3));
  CHECK(cosine(1000) == close(2e-5));
  const auto root = schedule(ScheduleKind::inverse_sqrt);
  CHECK(root(1) == close(2e-5));
  CHECK(root(100) == close(2e-3));
  CHECK(root(400) == close(1e-3));
}
