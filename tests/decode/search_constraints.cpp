// What a search is told beside its beam: what a translation may not hold, what it begins with, and what makes no sense.

#include <doctest/doctest.h>

#include "support/errors.hpp"
#include "support/table_steps.hpp"

using namespace attn;

namespace {

constexpr Token kEnd = 0;
using Tokens = std::vector<Token>;

const SearchOptions plain{.begin = 9, .end = kEnd, .limit = 5, .beam = 2, .score = {ScoreKind::log_probability}};

}  // namespace

TEST_CASE("search: forbidden tokens and repeated n-grams and the minimum length are respected") {
  const Table even = [](Index, std::span<const Token>) { return logarithms({0.4, 0.3, 0.2, 0.1}); };
  SearchOptions options = plain;
  CHECK(search_table(even, options)[0][0].tokens.empty());
  options.min_length = 2;
  CHECK(search_table(even, options)[0][0].tokens == Tokens{1, 1});
  options.no_repeat = 1;
  CHECK(search_table(even, options)[0][0].tokens == Tokens{1, 2});
  options.never = {2, 17};
  const Hypothesis found = search_table(even, options)[0][0];
  CHECK(found.tokens == Tokens{1, 3});
  CHECK(found.log_probability == doctest::Approx(std::log(0.3 * 0.1 * 0.4)));  // as the model has them
  options.no_repeat = 2, options.never = {}, options.min_length = 5;
  CHECK(search_table(even, options)[0][0].tokens == Tokens{1, 1, 2, 1, 3});  // 1 1 and 1 2 were there
}

TEST_CASE("search: a beam of 1 finds the next best token however many are blocked") {
  const Table five = [](Index, std::span<const Token>) { return logarithms({0.3, 0.25, 0.2, 0.15, 0.1}); };
  SearchOptions options = plain;
  options.beam = 1, options.no_repeat = 1, options.min_length = 3;
  const Hypothesis found = search_table(five, options)[0][0];
  CHECK(found.tokens == Tokens{1, 2, 3});
  CHECK(found.complete);
  CHECK(found.log_probability == doctest::Approx(std::log(0.25 * 0.2 * 0.15 * 0.3)));
}

TEST_CASE("search: a prefix overrides constraints and counts in the score") {
  const Table even = [](Index, std::span<const Token>) { return logarithms({0.4, 0.3, 0.2, 0.1, 0}); };
  SearchOptions options = plain;
  options.never = {3}, options.no_repeat = 1;
  options.prefixes = {{3, 3}, {}, {4}};
  const auto found = search_table(even, options, 3);
  CHECK(found[0][0].tokens == Tokens{3, 3});
  CHECK(found[0][0].log_probability == doctest::Approx(std::log(0.1 * 0.1 * 0.4)));
  CHECK(found[1][0].tokens.empty());
  CHECK(found[2][0].tokens == Tokens{4});  // that the model never writes
  CHECK(std::isinf(found[2][0].log_probability));
}

TEST_CASE("search: a hypothesis without continuations ends as at the limit") {
  const Table one_way = [](Index, std::span<const Token> tokens) {
    return tokens.size() < 2 ? logarithms({0, 1, 0}) : logarithms({0, 0, 0});
  };
  const auto found = search_table(one_way, plain)[0];
  CHECK(found[0].tokens == Tokens{1, 1});
  CHECK_FALSE(found[0].complete);
  SearchOptions options = plain;
  options.no_repeat = 1;
  CHECK(search_table(one_way, options)[0][0].tokens == Tokens{1});
  const Table broken = [](Index, std::span<const Token>) { return std::vector<double>(3, std::nan("")); };
  CHECK(search_table(broken, plain)[0][0].tokens.empty());
}

TEST_CASE("search: rejects contradictory options") {
  const auto said = [](auto&& change) {
    SearchOptions options = plain;
    change(options);
    return error_of([&] { search_table(random_table(4, 1), options); });
  };
  CHECK(contains(said([](auto& o) { o.beam = 0; }), "beam is 0"));
  CHECK(contains(said([](auto& o) { o.n_best = 3; }), "n_best 3 exceeds the beam of 2. Widen the beam."));
  CHECK(contains(said([](auto& o) { o.min_length = 6; }), "min_length 6 exceeds the limit of 5"));
  CHECK(contains(said([](auto& o) { o.prefixes = {{1}, {2}}; }), "2 prefixes for 1 sentences"));
  CHECK(contains(said([](auto& o) { o.prefixes = {{1, 1, 1, 1, 1}}; }), "leaves no room within the limit of 5"));
  CHECK(contains(said([](auto& o) { o.prefixes = {{1, -5}}; }), "a prefix contains a negative token id"));
  CHECK(contains(said([](auto& o) { o.complete = -1; }), "complete are 5, 0, 0 and -1, but must be at least 0"));
  CHECK(contains(said([](auto& o) { o.score.amount = std::nan(""); }), "score.amount is nan, but must be finite"));
  CHECK(contains(said([](auto& o) { o.prefixes = {{1, kEnd}}; }), "contains the end token 0"));
  CHECK(contains(said([](auto& o) { o.sampling = Sampling{.temperature = 0}; }), "temperature is 0"));
  CHECK(contains(said([](auto& o) { o.sampling = Sampling{.top_p = 1.5}; }), "top_p 1.5"));
  CHECK(contains(said([](auto& o) { o.no_repeat = -1; }), "must be at least 0"));
}
