// The rules of beam search, on models that are tables of probabilities.

#include "attn/decode/search.hpp"

#include <doctest/doctest.h>

#include "support/exhaustive_search.hpp"
#include "support/table_steps.hpp"

using namespace attn;

namespace {

constexpr Token kEnd = 0;
using Tokens = std::vector<Token>;

std::vector<Tokens> tokens_of(const std::vector<Hypothesis>& list) {
  std::vector<Tokens> all;
  for (const Hypothesis& one : list) all.push_back(one.tokens);
  return all;
}

/// After nothing: 1 with 0.6, 2 with 0.4. After 1 all four tokens are even; after 2 token 3 has 0.9. Then the end.
/// So greedy finds 1 .. of 0.15, a beam of two 2 3 of 0.36.
std::vector<double> garden_path(Index, std::span<const Token> tokens) {
  if (tokens.empty()) return logarithms({0, 0.6, 0.4, 0});
  if (tokens.size() == 1 && tokens[0] == 1) return logarithms({0.25, 0.25, 0.25, 0.25});
  if (tokens.size() == 1) return logarithms({0.05, 0.05, 0, 0.9});
  return logarithms({1, 0, 0, 0});
}

/// 1 for ever, with 0.8 a token, or the end.
std::vector<double> long_winded(Index, std::span<const Token>) { return logarithms({0.2, 0.8}); }

const SearchOptions plain{.begin = 9, .end = kEnd, .limit = 5, .beam = 2, .score = {ScoreKind::log_probability}};

}  // namespace

TEST_CASE("search: two hypotheses find a translation that greedy search misses") {
  SearchOptions options = plain;
  options.beam = 1;
  const Hypothesis narrow = search_table(garden_path, options)[0][0];
  CHECK(narrow.tokens == Tokens{1});
  CHECK(narrow.log_probability == doctest::Approx(std::log(0.15)));
  const Hypothesis wide = search_table(garden_path, plain)[0][0];
  CHECK(wide.tokens == Tokens{2, 3});
  CHECK(wide.complete);
  CHECK(wide.log_probability == doctest::Approx(std::log(0.36)));
  CHECK(wide.score == wide.log_probability);
  REQUIRE(wide.token_log_probabilities.size() == 3);
  CHECK(wide.token_log_probabilities[0] == std::log(0.4));
  CHECK(wide.token_log_probabilities[1] == std::log(0.9));
  CHECK(wide.token_log_probabilities[2] == 0);
}

TEST_CASE("search: an ended hypothesis frees its place and an end outside the k best is dropped") {
  // Step 1: 1 (0.5), end (0.3), 2 (0.15), 3 (0.05). With k = 2 the end is second: set aside; 1 and 2 are live.
  const Table table = [](Index, std::span<const Token> tokens) {
    return tokens.empty() ? logarithms({0.3, 0.5, 0.15, 0.05}) : logarithms({0.97, 0.01, 0.01, 0.01});
  };
  SearchOptions options = plain;
  options.n_best = 2;
  CHECK(tokens_of(search_table(table, options)[0]) == std::vector<Tokens>{{1}, {}});
  options.complete = 3, options.n_best = 3;
  CHECK(tokens_of(search_table(table, options)[0]) == std::vector<Tokens>{{1}, {}, {2}});
  options.beam = 1, options.complete = 1, options.n_best = 1;  // the end is second of one
  CHECK(tokens_of(search_table(table, options)[0]) == std::vector<Tokens>{{1}});
}

TEST_CASE("search: stops after n complete hypotheses or at the limit with incomplete ones marked") {
  SearchOptions options = plain;
  options.n_best = 2;
  for (const Index complete : {Index{1}, Index{2}, Index{3}}) {
    options.complete = complete;
    TableSteps steps(long_winded, 1, 2, 9);
    const auto found = beam_search(steps, options)[0];
    CHECK(steps.steps == complete);  // one ends at each step
    CHECK(found[0].tokens.empty());
    CHECK(found[0].complete);
  }
  options.score = {ScoreKind::length, 1};
  options.complete = 9;
  options.limit = 3;
  const auto found = search_table(long_winded, options)[0];
  CHECK(found[0].tokens == Tokens{1, 1, 1});
  CHECK_FALSE(found[0].complete);
  CHECK(found[0].score == doctest::Approx(std::log(0.8)));
  CHECK(found[0].log_probability == doctest::Approx(3 * std::log(0.8)));
  CHECK(found[0].token_log_probabilities.size() == 3);
  CHECK(found[1].complete);
  CHECK(found[1].tokens == Tokens{1, 1});
  options.limit = 0, options.n_best = 1;
  const auto nothing = search_table(long_winded, options)[0];
  CHECK(nothing.size() == 1);
  CHECK(nothing[0].tokens.empty());
  CHECK(nothing[0].log_probability == 0);
  CHECK_FALSE(nothing[0].complete);
}

TEST_CASE("search: a free end at the limit counts as a token with probability 1") {
  SearchOptions options{.begin = 9, .end = kEnd, .limit = 2, .beam = 2, .complete = 3, .n_best = 3};
  const auto scores = [&] {
    const auto found = search_table(long_winded, options)[0];
    std::vector<double> all;
    for (const Hypothesis& one : found) all.push_back(one.score);
    return all;
  };
  const double end = std::log(0.2), word = std::log(0.8);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < 1e-12; });
  };
  CHECK(same(scores(), {2 * word / 2, (word + end) / 2, end}));
  options.free_end = true;
  CHECK(same(scores(), {2 * word / 3, (word + end) / 2, end}));
}

TEST_CASE("search: the final score can be log-probability or mean or reward or GNMT penalty") {
  CHECK(FinalScore{ScoreKind::log_probability}(-6, 3) == -6);
  CHECK(FinalScore{ScoreKind::length, 1}(-6, 3) == -2);
  CHECK(FinalScore{ScoreKind::length, 0.5}(-6, 4) == -3);
  CHECK(FinalScore{ScoreKind::word_reward, 0.5}(-6, 3) == -4.5);
  CHECK(FinalScore{ScoreKind::gnmt, 1}(-6, 7) == -3);
  CHECK(FinalScore{ScoreKind::gnmt, 0.6}(-6, 7) == doctest::Approx(-6 / std::pow(2, 0.6)));
  CHECK(FinalScore{}(-6, 3) == -2);  // the mean
  CHECK(FinalScore{}(-6, 0) == -6);
  // The end alone has 0.2; 1 and the end 0.16; 1 1 and the end 0.128.
  SearchOptions options = plain;
  options.complete = 3;
  const auto chosen = [&](FinalScore score) {
    options.score = score;
    return search_table(long_winded, options)[0][0].tokens;
  };
  CHECK(chosen({ScoreKind::log_probability}) == Tokens{});
  CHECK(chosen({ScoreKind::length, 1}) == Tokens{1, 1});
  CHECK(chosen({ScoreKind::word_reward, 0.2}) == Tokens{});  // less than a token costs: log 0.8 = -0.223
  CHECK(chosen({ScoreKind::word_reward, 0.25}) == Tokens{1, 1});
  CHECK(chosen({ScoreKind::gnmt, 0.1}) == Tokens{});
  CHECK(chosen({ScoreKind::gnmt, 1}) == Tokens{1, 1});
}

TEST_CASE("search: no_better stopping rules continue until no better hypothesis is possible") {
  SearchOptions options = plain;
  options.beam = 2, options.complete = 1, options.limit = 50;
  const auto steps_until = [&](Stop stop, FinalScore score) {
    options.stop = stop, options.score = score;
    TableSteps steps(long_winded, 1, 2, 9);
    beam_search(steps, options);
    return steps.steps;
  };
  CHECK(steps_until(Stop::complete, {ScoreKind::length, 1}) == 1);
  CHECK(steps_until(Stop::no_better, {ScoreKind::length, 1}) == 50);  // the mean only grows
  CHECK(steps_until(Stop::no_better_now, {ScoreKind::length, 1}) == 50);
  CHECK(steps_until(Stop::complete, {ScoreKind::log_probability}) == 1);
  // 0.8^8 is the first power below 0.2.
  CHECK(steps_until(Stop::no_better, {ScoreKind::log_probability}) == 8);
  CHECK(steps_until(Stop::no_better_now, {ScoreKind::log_probability}) == 8);
}

TEST_CASE("search: a wide enough beam matches exhaustive search on thousands of random models") {
  Index complete = 0, unfinished = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed, 77);
    const Index vocabulary = 2 + random.below(3), limit = 1 + random.below(vocabulary == 2 ? 6 : 4);
    SearchOptions options{.begin = 9, .end = static_cast<Token>(random.below(vocabulary)), .limit = limit};
    options.beam = 400, options.complete = 4000, options.n_best = 1 + random.below(8);
    options.score = {static_cast<ScoreKind>(random.below(4)), random.uniform(0, 1.5)};
    options.min_length = random.below(limit + 1);
    options.no_repeat = random.below(4);
    options.free_end = random.below(2) == 0;
    if (random.below(3) == 0) options.never = {static_cast<Token>(random.below(vocabulary))};
    if (random.below(3) == 0 && limit > 1) {
      Tokens prefix;
      for (Index i = 0; i < limit - 1; ++i) prefix.push_back(static_cast<Token>((options.end + 1) % vocabulary));
      options.prefixes = {prefix};
    }
    const Table table = random_table(vocabulary, seed);
    const auto expected = exhaustive([&](std::span<const Token> tokens) { return table(0, tokens); }, options);
    const auto found = search_table(table, options)[0];
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO("seed ", seed, ", hypothesis ", i);
      CHECK(found[i].tokens == expected[i].tokens);
      CHECK(found[i].log_probability == expected[i].log_probability);
      CHECK(found[i].score == expected[i].score);
      CHECK(found[i].token_log_probabilities == expected[i].token_log_probabilities);
      CHECK(found[i].complete == expected[i].complete);
      ++(found[i].complete ? complete : unfinished);
    }
  }
  CHECK(complete > 1000);  // else the models are too dull to test with
  CHECK(unfinished > 1000);
}

TEST_CASE("search: the no_better rule never loses the best hypothesis for any score") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed, 78);
    SearchOptions options{.begin = 9, .end = kEnd, .limit = 5, .beam = 300, .complete = 1, .stop = Stop::no_better};
    options.score = {static_cast<ScoreKind>(seed % 4), random.uniform(-0.5, 1.5)};
    options.free_end = seed % 8 < 4;
    const Table table = random_table(3, seed);
    const auto expected = exhaustive([&](std::span<const Token> tokens) { return table(0, tokens); }, options);
    const auto found = search_table(table, options)[0];
    CHECK(found[0].tokens == expected[0].tokens);
  }
}

TEST_CASE("search: results do not depend on the batch or its order") {
  const Table table = random_table(12, 5);
  const SearchOptions options{.begin = 9, .end = kEnd, .limit = 9, .beam = 3, .n_best = 3, .never = {4}, .no_repeat = 2};
  const auto together = search_table(table, options, 20);
  for (Index i = 0; i < 20; ++i) {
    const Table alone = [&](Index, std::span<const Token> tokens) { return table(i, tokens); };
    const Table turned = [&](Index j, std::span<const Token> tokens) { return table(19 - j, tokens); };
    CHECK(search_table(alone, options)[0] == together[static_cast<std::size_t>(i)]);
    CHECK(search_table(turned, options, 20)[static_cast<std::size_t>(19 - i)] == together[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("search: n-best lists are sorted and start with the 1-best result") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Table table = random_table(8, seed);
    SearchOptions options{.begin = 9, .end = kEnd, .limit = 6, .beam = 4};
    const auto one = search_table(table, options, 5);
    options.n_best = 4;
    const auto four = search_table(table, options, 5);
    for (std::size_t i = 0; i < 5; ++i) {
      REQUIRE(one[i].size() == 1);
      CHECK(one[i][0] == four[i][0]);
      CHECK(four[i].size() == 4);
      for (std::size_t n = 1; n < four[i].size(); ++n) {
        CHECK(four[i][n - 1].score >= four[i][n].score);
        CHECK(four[i][n - 1].tokens != four[i][n].tokens);
      }
    }
  }
}

TEST_CASE("search: handles no sentences and beams wider than the search space") {
  CHECK(search_table(garden_path, plain, 0).empty());
  SearchOptions options = plain;
  options.beam = 64, options.n_best = 64;
  const auto found = search_table(garden_path, options)[0];
  CHECK(found[0].tokens == Tokens{2, 3});
  CHECK(found.size() == 7);  // 1 and 2; 1 1, 1 2, 1 3; 2 1, 2 3
}

TEST_CASE("search: the tree contains all explored hypotheses and marks the best path") {
  std::vector<SearchTree> trees;
  search_table(garden_path, plain, 1, &trees);
  REQUIRE(trees.size() == 1);
  const auto& nodes = trees[0].nodes;
  REQUIRE(nodes.size() > 6);
  CHECK(nodes[0].parent == -1);
  CHECK(nodes[1].token == 1);
  CHECK(nodes[1].log_probability == std::log(0.6));
  CHECK(nodes[1].fate == SearchTree::Fate::live);
  CHECK_FALSE(nodes[1].best);
  CHECK(nodes[2].token == 2);
  CHECK(nodes[2].best);
  Index complete = 0, best = 0;
  for (const auto& node : nodes) {
    complete += node.fate == SearchTree::Fate::complete;
    best += node.best;
    CHECK(node.parent < &node - nodes.data());
  }
  CHECK(best == 3);
  CHECK(complete >= 2);
}
