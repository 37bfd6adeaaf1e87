#include "attn/decode/search.hpp"

#include <doctest/doctest.h>

#include <map>

#include "support/table_steps.hpp"

using namespace attn;

namespace {

constexpr Token kEnd = 0;
using Tokens = std::vector<Token>;

/// How often each token is drawn.
std::vector<double> frequencies(const std::vector<double>& probabilities, const Sampling& by, int draws = 40000) {
  Random random(7);
  std::vector<double> counts(probabilities.size());
  const auto p = logarithms(probabilities);
  for (int i = 0; i < draws; ++i) counts[static_cast<std::size_t>(draw(p, by, random))] += 1;
  for (double& count : counts) count /= draws;
  return counts;
}

/// Within five standard deviations of what is expected; what is impossible never comes.
void check_frequencies(const std::vector<double>& found, const std::vector<double>& expected, int draws = 40000) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("token ", i, ": ", found[i], ", expected ", expected[i]);
    if (expected[i] == 0)
      CHECK(found[i] == 0);
    else
      CHECK(std::abs(found[i] - expected[i]) < 5 * std::sqrt(expected[i] * (1 - expected[i]) / draws) + 1e-12);
  }
}

}  // namespace

TEST_CASE("sampling: token frequencies match their probabilities") {
  const std::vector<double> p{0.5, 0.1, 0, 0.25, 0.15};
  check_frequencies(frequencies(p, {}), p);
  check_frequencies(frequencies(p, {.temperature = 0.5}), {0.25 / 0.345, 0.01 / 0.345, 0, 0.0625 / 0.345, 0.0225 / 0.345});
  check_frequencies(frequencies(p, {.top_k = 1}), {1, 0, 0, 0, 0});
  check_frequencies(frequencies(p, {.top_k = 2}), {2.0 / 3, 0, 0, 1.0 / 3, 0});
  check_frequencies(frequencies(p, {.top_k = 9}), p);
  check_frequencies(frequencies(p, {.top_p = 0.5}), {1, 0, 0, 0, 0});
  check_frequencies(frequencies(p, {.top_p = 0.6}), {2.0 / 3, 0, 0, 1.0 / 3, 0});
  check_frequencies(frequencies(p, {.top_p = 0.8}), {0.5 / 0.9, 0, 0, 0.25 / 0.9, 0.15 / 0.9});
  check_frequencies(frequencies({0.2, 0.3, 0.2, 0.3}, {.top_k = 3}), {0.25, 0.375, 0, 0.375});  // of equals the first
  Random random(1);
  CHECK(draw(logarithms({0, 0}), {}, random) == -1);
}

TEST_CASE("sampling: translation frequencies match their probabilities") {
  const Table table = [](Index, std::span<const Token> tokens) {
    return tokens.empty() ? logarithms({0.2, 0.5, 0.3}) : logarithms({0.6, 0.4, 0});
  };
  SearchOptions options{.begin = 9, .end = kEnd, .limit = 2, .n_best = 20000, .sampling = Sampling{.seed = 3}};
  std::map<Tokens, double> counts;
  const auto drawn = search_table(table, options, 1);
  for (const Hypothesis& one : drawn[0]) {
    counts[one.tokens] += 1.0 / 20000;
    double sum = 0;
    for (const double p : one.token_log_probabilities) sum += p;
    CHECK(one.log_probability == doctest::Approx(sum));
    CHECK(one.complete == (one.tokens.size() < 2));
    CHECK(one.token_log_probabilities.size() == one.tokens.size() + (one.complete ? 1 : 0));
  }
  const std::map<Tokens, double> expected{{{}, 0.2}, {{1}, 0.3}, {{2}, 0.18}, {{1, 1}, 0.2}, {{2, 1}, 0.12}};
  CHECK(counts.size() == expected.size());
  for (const auto& [tokens, p] : expected) CHECK(std::abs(counts[tokens] - p) < 5 * std::sqrt(p * (1 - p) / 20000));
}

TEST_CASE("sampling: results depend on seed and sentence and sample index but not on the batch") {
  const Table same = [table = random_table(12, 5, 0.5)](Index, std::span<const Token> tokens) { return table(0, tokens); };
  SearchOptions options{.begin = 9, .end = kEnd, .limit = 9, .n_best = 3, .sampling = Sampling{.seed = 3}};
  const auto first = search_table(same, options, 4);
  CHECK(search_table(same, options, 4) == first);
  CHECK(first[0] != first[1]);
  CHECK(first[0][1].tokens != first[0][2].tokens);
  options.streams = {2, 0};
  const auto some = search_table(same, options, 2);
  CHECK(some[0] == first[2]);
  CHECK(some[1] == first[0]);
  options.sampling->seed = 4;
  CHECK(search_table(same, options, 2)[1] != first[0]);
}

TEST_CASE("sampling: duplicate sentences use different random numbers") {
  const Table same = [table = random_table(12, 5, 0.5)](Index, std::span<const Token> tokens) { return table(0, tokens); };
  const SearchOptions options{.begin = 9, .end = kEnd, .limit = 9, .n_best = 2, .sampling = Sampling{.seed = 3}};
  const auto drawn = search_table(same, options, 2);
  CHECK(drawn[0][1].tokens != drawn[1][0].tokens);
}

TEST_CASE("sampling: respects constraints") {
  SearchOptions options{.begin = 9,
                        .end = kEnd,
                        .limit = 5,
                        .n_best = 300,
                        .min_length = 2,
                        .never = {4},
                        .no_repeat = 1,
                        .prefixes = {{4, 4}, {}},
                        .sampling = Sampling{.temperature = 3}};
  const auto drawn = search_table(random_table(6, 1), options, 2);
  for (const Hypothesis& one : drawn[0]) {
    REQUIRE(one.tokens.size() >= 2);
    CHECK(one.tokens[0] == 4);
    CHECK(one.tokens[1] == 4);
  }
  std::map<std::size_t, int> lengths;
  for (const Hypothesis& one : drawn[1]) {
    ++lengths[one.tokens.size()];
    CHECK(std::find(one.tokens.begin(), one.tokens.end(), 4) == one.tokens.end());
    Tokens sorted = one.tokens;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  }
  CHECK(lengths.size() == 3);  // 2 to 4: only four tokens are left
  CHECK(lengths.begin()->first == 2);
  options.limit = 0, options.min_length = 0, options.prefixes = {};
  CHECK(search_table(random_table(6, 1), options, 2)[1][299].tokens.empty());
  CHECK(search_table(random_table(6, 1), options, 0).empty());
}
