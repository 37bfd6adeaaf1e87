#include "attn/cuda/matmul/plans.cuh"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/files.hpp"

using attn::Plans;

namespace {

Plans::Key key(attn::Index rows) { return {1, 2, Plans::rounded(rows), 512, 512, 512, 512, 512, 16, 16, 16, 1}; }

cublasLtMatmulAlgo_t algorithm(std::uint64_t first) {
  cublasLtMatmulAlgo_t made;
  for (auto& word : made.data) word = first++;
  return made;
}

}  // namespace

TEST_CASE("plans: rows round up to eighths of powers of two") {
  CHECK(Plans::rounded(1) == 16);
  CHECK(Plans::rounded(16) == 16);
  CHECK(Plans::rounded(17) == 18);
  CHECK(Plans::rounded(100) == 104);
  CHECK(Plans::rounded(128) == 128);
  CHECK(Plans::rounded(129) == 144);
  CHECK(Plans::rounded(5171) == 5632);
  for (attn::Index rows = 1; rows < 70'000; rows += 1 + rows / 50) {
    CHECK(Plans::rounded(rows) >= rows);
    CHECK(Plans::rounded(Plans::rounded(rows)) == Plans::rounded(rows));
    if (rows > 16) CHECK(Plans::rounded(rows) - rows < (rows + 7) / 8);
    const attn::Index fewest = Plans::fewest(Plans::rounded(rows));
    CHECK(fewest <= rows);
    CHECK(Plans::rounded(fewest) == Plans::rounded(rows));
    CHECK((fewest == 1 || Plans::rounded(fewest - 1) < fewest));
  }
}

TEST_CASE("plans: one is found for all rows that round alike") {
  Plans plans;
  CHECK(plans.find(key(5171)) == nullptr);
  plans.set(key(5171), algorithm(7));
  REQUIRE(plans.find(key(5200)) != nullptr);
  CHECK(plans.find(key(5200))->data[0] == 7);
  CHECK(plans.find(key(6000)) == nullptr);
}

TEST_CASE("plans: a file gives them back, to the same GPU only, and a damaged one is an error") {
  const TemporaryFolder folder;
  Plans plans, again;
  plans.set(key(100), algorithm(1));
  plans.set(key(5171), algorithm(0xffff'ffff'ffff'fff0));
  plans.save(folder / "plans", "a GPU");
  CHECK(!again.load(folder / "plans", "another GPU"));
  CHECK(again.size() == 0);
  CHECK(again.load(folder / "plans", "a GPU"));
  REQUIRE(again.size() == 2);
  const cublasLtMatmulAlgo_t expected = algorithm(1);
  CHECK(std::equal(std::begin(expected.data), std::end(expected.data), again.find(key(100))->data));
  CHECK(again.find(key(5171))->data[0] == 0xffff'ffff'ffff'fff0);

  std::string text = attn::read_file(folder / "plans");
  text.resize(text.size() - 40);
  attn::write_file(folder / "damaged", text);
  Plans other;
  CHECK(contains(error_of([&] { other.load(folder / "damaged", "a GPU"); }), "line 3 is not a plan"));
  CHECK(other.size() == 0);
  CHECK(contains(error_of([&] { other.load(folder / "missing", "a GPU"); }), "missing"));
}
