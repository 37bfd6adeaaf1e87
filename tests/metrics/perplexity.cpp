#include "attn/metrics/perplexity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using attn::Perplexity;

TEST_CASE("perplexity of a uniform guess is the number of choices") {
  Perplexity perplexity;
  perplexity.add(10 * std::log(50.0), 10);
  CHECK(perplexity.value() == doctest::Approx(50).epsilon(1e-12));
  CHECK(perplexity.mean() == doctest::Approx(std::log(50.0)).epsilon(1e-12));
}

TEST_CASE("batches weigh as their tokens do") {
  Perplexity perplexity;
  perplexity.add(3.0, 1);
  perplexity.add(0.0, 0);
  perplexity.add(9.0, 5);
  CHECK(perplexity.tokens() == 6);
  CHECK(perplexity.mean() == doctest::Approx(2).epsilon(1e-15));
}

TEST_CASE("log-probabilities of tokens add up") {
  const std::vector<float> first{-1.0F, -2.0F}, none;
  const std::vector<double> second{-3.0};
  Perplexity perplexity;
  perplexity.add_log_probabilities(std::span(first));
  perplexity.add_log_probabilities(std::span(none));
  perplexity.add_log_probabilities(std::span(second));
  CHECK(perplexity.tokens() == 3);
  CHECK(perplexity.value() == doctest::Approx(std::exp(2.0)).epsilon(1e-15));
  const std::vector<double> certain{0.0}, impossible{-HUGE_VAL}, wrong{0.5}, no_number{std::nan("")};
  Perplexity one;
  one.add_log_probabilities(std::span(certain));
  CHECK(one.value() == 1);
  one.add_log_probabilities(std::span(impossible));
  CHECK(one.value() == HUGE_VAL);
  CHECK_THROWS_WITH_AS(one.add_log_probabilities(std::span(wrong)),
                       "Perplexity: 0.5 is not the logarithm of a probability, which is at most 0", attn::Error);
  CHECK_THROWS_AS(one.add_log_probabilities(std::span(no_number)), attn::Error);
}

TEST_CASE("a perplexity of nothing is refused") {
  CHECK_THROWS_AS(Perplexity{}.mean(), attn::Error);
  CHECK_THROWS_AS(Perplexity{}.value(), attn::Error);
  Perplexity perplexity;
  CHECK_THROWS_AS(perplexity.add(1.0, -1), attn::Error);
}
