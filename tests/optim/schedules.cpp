#include "attn/optim/schedules.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace attn;
using doctest::Approx;

namespace {
constexpr double exact = 1e-13;  // relative; the literals have 15 digits or more
Approx close(double value) { return Approx(value).epsilon(exact).scale(0); }

struct Text {
  std::string operator()(Index) const { return ""; }
};
static_assert(!Schedule<Text> && !Schedule<int>);
}  // namespace

TEST_CASE("ConstantRate: is constant") {
  CHECK(ConstantRate{0.01}(1) == 0.01);
  CHECK(ConstantRate{0.01}(1'000'000'000) == 0.01);
}

TEST_CASE("WarmupCosine: rises over 4000 steps from 1e-7 to 1e-4 and falls to 1e-6 at the last step") {
  const WarmupCosine rate{.total = 100'000};
  CHECK(rate(1) == close(1e-7));
  CHECK(rate(2) == close(1.24975e-7));
  CHECK(rate(2001) == close(5.005e-5));
  CHECK(rate(4000) == close(9.9975025e-5));
  CHECK(rate(4001) == close(1e-4));
  CHECK(rate(4002) == close(9.999999997349416e-05));
  CHECK(rate(28'000) == close(8.550264474020828e-05));
  CHECK(rate(52'000) == close(5.0500809950292946e-05));
  CHECK(rate(99'999) == close(1.0000000265058365e-06));
  CHECK(rate(100'000) == 1e-6);
}

TEST_CASE("WarmupCosine: equals PyTorch's LinearLR followed by CosineAnnealingLR") {
  const WarmupCosine rate{.warmup = 10, .from = 1e-7, .peak = 1e-4, .last = 1e-6, .total = 50};
  CHECK(rate(1) == close(1e-7));
  CHECK(rate(2) == close(1.009e-05));
  CHECK(rate(6) == close(5.005e-05));
  CHECK(rate(10) == close(9.001e-05));
  CHECK(rate(11) == close(1e-4));
  CHECK(rate(12) == close(9.98394867526434e-05));
  CHECK(rate(31) == close(4.850683596458396e-05));
  CHECK(rate(49) == close(1.1605132473566085e-06));
  CHECK(rate(50) == close(1e-6));
}

TEST_CASE("WarmupCosine: is continuous with one peak") {
  const WarmupCosine rate{.warmup = 400, .total = 2000};
  const double steepest = 1e-4 / 400;
  for (Index step = 1; step < 2100; ++step) {
    CAPTURE(step);
    CHECK(std::abs(rate(step + 1) - rate(step)) <= steepest);
    if (step <= 400) CHECK(rate(step + 1) > rate(step));
    if (step > 400 && step < 2000) CHECK(rate(step + 1) < rate(step));
  }
}

TEST_CASE("WarmupCosine: handles edge cases") {
  const WarmupCosine no_warmup{.warmup = 0, .total = 101};
  CHECK(no_warmup(1) == close(1e-4));
  CHECK(no_warmup(51) == close(5.05e-5));
  CHECK(no_warmup(101) == 1e-6);

  const WarmupCosine rate{.warmup = 10, .total = 50};
  CHECK(rate(51) == 1e-6);
  CHECK(rate(1'000'000'000'000) == 1e-6);

  const WarmupCosine no_cosine{.warmup = 10, .total = 11};
  CHECK(no_cosine(10) == close(1e-7 + 0.9 * (1e-4 - 1e-7)));
  CHECK(no_cosine(11) == 1e-6);

  const WarmupCosine cut_short{.warmup = 10, .total = 5};  // the run ends while it still warms up
  CHECK(cut_short(5) == close(1e-7 + 0.4 * (1e-4 - 1e-7)));
  CHECK(WarmupCosine{.warmup = 0, .total = 0}(1) == 1e-6);
}

TEST_CASE("InverseSquareRoot: matches the schedule of Vaswani et al.") {
  const InverseSquareRoot rate;  // width 512, 4,000 steps
  CHECK(rate(1) == close(1.746928107421711e-07));
  CHECK(rate(100) == close(1.746928107421711e-05));
  CHECK(rate(4000) == close(0.0006987712429686843));
  CHECK(rate(4001) == close(0.000698683912937353));
  CHECK(rate(16'000) == close(0.00034938562148434214));
  CHECK(rate(100'000) == close(0.00013975424859373687));
  CHECK(rate(4000) == close(1 / std::sqrt(512.0 * 4000)));
  CHECK(InverseSquareRoot{.scale = 2}(100) == close(2 * 1.746928107421711e-05));
  CHECK(std::abs(rate(4001) - rate(4000)) <= rate(1));
}

TEST_CASE("InverseSquareRoot: only falls without warm-up") {
  const InverseSquareRoot rate{.width = 256, .warmup = 0, .scale = 0.5};
  CHECK(rate(1) == close(0.03125));
  CHECK(rate(9) == close(0.010416666666666666));
}

TEST_CASE("StepDecay: multiplies the rate at fixed intervals") {
  const StepDecay rate{.rate = 0.01, .factor = 0.5, .every = 100};
  CHECK(rate(1) == 0.01);
  CHECK(rate(100) == 0.01);
  CHECK(rate(101) == 0.005);
  CHECK(rate(200) == 0.005);
  CHECK(rate(201) == 0.0025);
  CHECK(rate(1001) == close(0.01 / 1024));
  CHECK(StepDecay{.rate = 1, .factor = 0.1, .every = 1}(3) == close(0.01));
  CHECK_THROWS_WITH_AS((StepDecay{.every = 0}(1)), "StepDecay: cannot decay every 0 steps; give at least 1", Error);
}
