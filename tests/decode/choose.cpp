#include "attn/decode/decoding_steps.hpp"

#include "attn/ops/decoding.hpp"
#include "support/model_tools.hpp"
#include "support/table_steps.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("choose: matches the device op") {
  D device(1);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Index rows = random.below(4), vocabulary = 1 + random.below(9);
    ChoiceRules rules{.k = 1 + random.below(11), .except = {}, .only = {}, .renormalize = random.below(2) == 0};
    for (Index i = random.below(4); i > 0; --i) rules.except.push_back(static_cast<Token>(random.below(vocabulary)));
    if (random.below(2) == 0)
      for (Index i = 0; i < rows; ++i) rules.only.push_back(static_cast<Token>(random.below(vocabulary + 1) - 1));
    std::vector<double> logits;
    for (Index i = 0; i < rows * vocabulary; ++i)
      logits.push_back(random.below(5) == 0 ? -HUGE_VAL : static_cast<double>(random.below(4)));
    std::vector<Token> best(static_cast<std::size_t>(rows * rules.k), -7);
    std::vector<double> p(best.size());
    top_k(device, {.logits = {logits.data(), rows, vocabulary},
                   .best = {best.data(), rows, rules.k},
                   .log_probabilities = {p.data(), rows, rules.k},
                   .except = rules.except.data(),
                   .excepted = static_cast<Index>(rules.except.size()),
                   .only = rules.only.empty() ? nullptr : rules.only.data(),
                   .renormalize = rules.renormalize});
    for (Index i = 0; i < rows; ++i)
      log_softmax(
          std::span(logits).subspan(static_cast<std::size_t>(i * vocabulary), static_cast<std::size_t>(vocabulary)));
    Choices choices;
    choose(logits, rows, rules, choices);
    CHECK(choices.k == rules.k);
    CHECK(choices.tokens == best);
    if (rules.renormalize && !rules.only.empty()) continue;  // what must be taken may have been left out
    for (std::size_t i = 0; i < p.size(); ++i)
      CHECK((choices.log_probabilities[i] == p[i] || std::abs(choices.log_probabilities[i] - p[i]) < 1e-14));
  }
}

TEST_CASE("log softmax: handles huge values and rows of -inf") {
  std::vector<double> row{1e300, 1e300, -1e300};
  log_softmax(row);
  CHECK(row[0] == doctest::Approx(-std::log(2.0)));
  CHECK(row[2] < -1e300);
  std::vector<double> none{-HUGE_VAL, -HUGE_VAL};
  log_softmax(none);
  CHECK(none == std::vector<double>{-HUGE_VAL, -HUGE_VAL});
}
