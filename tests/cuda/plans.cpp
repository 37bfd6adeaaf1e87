#include "attn/cuda/matmul/plans.cuh"

#include <doctest/doctest.h>

using attn::Plans;

namespace {

Plans::Key key(attn::Index rows) { return {1, 2, Plans::rounded(rows), 512, 512, 512, 512, 512, 16, 16, 16, 1}; }

cublasLtMatmulAlgo_t algorithm(std::uint64_t first) {
  cublasLtMatmulAlgo_t made;
  for (auto& word : made.data) word = first++;
  return made;
}

}  // namespace

TEST_CASE("plans: rows are rounded up to eighths of powers of two") {
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
  }
}

TEST_CASE("plans: row counts that round alike share one plan") {
  Plans plans;
  CHECK(plans.find(key(5171)) == nullptr);
  plans.set(key(5171), algorithm(7));
  REQUIRE(plans.find(key(5200)) != nullptr);
  CHECK(plans.find(key(5200))->data[0] == 7);
  CHECK(plans.find(key(6000)) == nullptr);
}
