#include "attn/metrics/perplexity.hpp"

#include <doctest/doctest.h>

#include <cmath>

using attn::Perplexity;

TEST_CASE("perplexity: a uniform distribution gives the number of choices") {
  Perplexity perplexity;
  perplexity.add(10 * std::log(50.0), 10);
  CHECK(perplexity.value() == doctest::Approx(50).epsilon(1e-12));
  CHECK(perplexity.mean() == doctest::Approx(std::log(50.0)).epsilon(1e-12));
}

TEST_CASE("perplexity: batches are weighted by their tokens") {
  Perplexity perplexity;
  perplexity.add(3.0, 1);
  perplexity.add(0.0, 0);
  perplexity.add(9.0, 5);
  CHECK(perplexity.tokens() == 6);
  CHECK(perplexity.mean() == doctest::Approx(2).epsilon(1e-15));
}

TEST_CASE("perplexity: rejects empty input") {
  CHECK_THROWS_AS(Perplexity{}.mean(), attn::Error);
  CHECK_THROWS_AS(Perplexity{}.value(), attn::Error);
  Perplexity perplexity;
  CHECK_THROWS_AS(perplexity.add(1.0, -1), attn::Error);
}
