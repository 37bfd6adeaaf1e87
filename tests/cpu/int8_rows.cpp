#include "attn/cpu/int8_rows.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using attn::Index;
using namespace attn::cpu;

namespace {

std::vector<int> quantised(const std::vector<float>& x, float& scale, int offset = 0) {
  std::vector<std::int8_t> q(x.size());
  scale = quantise(x.data(), static_cast<Index>(x.size()), offset, q.data());
  return {q.begin(), q.end()};
}

}  // namespace

TEST_CASE("quantize: maps the largest value to 127 and rounds to nearest even") {
  float scale = 0;
  CHECK(quantised({127, -127, 1.4F, -1.6F, 0.5F, 1.5F, 2.5F, -0.5F, 0}, scale) ==
        std::vector<int>{127, -127, 1, -2, 0, 2, 2, 0, 0});
  CHECK(scale == 1);
  CHECK(quantised({-0.5F, 0.25F, 0}, scale) == std::vector<int>{-127, 64, 0});  // 63.5 is between 63 and 64
  CHECK(scale == 0.5F / 127);
  CHECK(quantised({1, -1, 0}, scale, 128) == std::vector<int>{-1, 1, -128});  // 255, 1 and 128 without a sign
}

TEST_CASE("quantize: handles zeros and tiny and huge and non-finite values") {
  constexpr float infinite = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  float scale = 1;
  CHECK(quantised({}, scale).empty());
  CHECK(scale == 0);
  scale = 1;
  CHECK(quantised({0, 0, -0.0F}, scale) == std::vector<int>{0, 0, 0});
  CHECK(scale == 0);
  CHECK(quantised({1e-38F, 1e-31F}, scale) == std::vector<int>{0, 0});
  CHECK(scale == 0);
  CHECK(quantised({largest, -largest, 1}, scale) == std::vector<int>{127, -127, 0});
  CHECK(scale == doctest::Approx(largest / 127));
  for (const float bad : {infinite, -infinite, std::nanf("")}) {
    CHECK(quantised({1, bad, 2}, scale) == std::vector<int>{0, 0, 0});
    CHECK(std::isnan(scale));
  }
}
