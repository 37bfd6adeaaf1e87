#include "attn/core/parameter.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "attn/cpu/device.hpp"
#include "support/errors.hpp"

using attn::Initializer;
using attn::Random;

TEST_CASE("initializer: each kind draws from its distribution") {
  Random random(1);
  CHECK(Initializer::zero().draw(random) == 0);
  CHECK(Initializer::constant(2.5).draw(random) == 2.5);
  double least = 1, most = -1, squares = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = Initializer::uniform(0.5).draw(random), y = Initializer::normal(3).draw(random);
    least = std::min(least, x);
    most = std::max(most, x);
    squares += y * y;
  }
  CHECK(least >= -0.5);
  CHECK(least < -0.49);
  CHECK(most <= 0.5);
  CHECK(most > 0.49);
  CHECK(std::sqrt(squares / 2000) == doctest::Approx(3).epsilon(0.05));
}

TEST_CASE("initializer: constants consume no random numbers") {
  Random random(1), other(1);
  Initializer::constant(1).draw(random);
  CHECK(random() == other());
}

TEST_CASE("initializer: the Xavier bound is the square root of 6 over the sum of both fans") {
  CHECK(Initializer::xavier(2, 4).scale == doctest::Approx(1).epsilon(1e-15));
  CHECK(Initializer::xavier(512, 512).scale == doctest::Approx(0.0765465545).epsilon(1e-9));
}

TEST_CASE("parameter: a row range is a parameter over the same values") {
  std::vector<double> value{0, 1, 2, 3, 4, 5}, gradient(6);
  const attn::Parameter<attn::Cpu<double>> all{3, 2, Initializer::uniform(1), value.data(), gradient.data()};
  const auto rows = all.row_range(1, 2);
  CHECK(all.size() == 6);
  CHECK(rows.size() == 4);
  CHECK(rows.matrix()(1, 1) == 5);
  CHECK(rows.gradient_matrix().data == gradient.data() + 2);
  auto frozen = all;
  frozen.gradient = nullptr;
  CHECK(frozen.row_range(1, 2).gradient == nullptr);
}

TEST_CASE("parameter: an unallocated parameter is an error but an empty parameter is not") {
  const attn::Parameter<attn::Cpu<double>> unbound{3, 2}, none{};
  for (const std::string& sentence : {error_of([&] { unbound.matrix(); }), error_of([&] { unbound.values(); })}) {
    CHECK(contains(sentence, "a parameter of 3 x 2 has no memory"));
    CHECK(contains(sentence, "Create a Network of its model"));
  }
  for (const std::string& sentence :
       {error_of([&] { unbound.gradient_matrix(); }), error_of([&] { unbound.gradients(); })}) {
    CHECK(contains(sentence, "a parameter of 3 x 2 has no gradient"));
    CHECK(contains(sentence, "with a seed"));
  }
  CHECK(contains(error_of([&] { unbound.row_range(1, 2).matrix(); }), "a parameter of 2 x 2 has no memory"));
  CHECK(none.values() == nullptr);
  CHECK(none.gradients() == nullptr);
}
