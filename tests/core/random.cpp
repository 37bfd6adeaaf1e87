#include "attn/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using attn::Index;
using attn::Random;

TEST_CASE("random: the first numbers of a seed are the same on every machine") {
  Random random(1), stream(1, 1), large((std::uint64_t{1} << 40) + 5);
  for (const std::uint32_t expected : {0xfaa8af81U, 0x11356c7fU, 0xd40e7655U, 0x5fb5c583U}) CHECK(random() == expected);
  for (const std::uint32_t expected : {0x90dedc8eU, 0xfc6f1192U}) CHECK(stream() == expected);
  for (const std::uint32_t expected : {0x5397a963U, 0x133ca681U}) CHECK(large() == expected);
}

TEST_CASE("random: uniform and normal numbers match known values") {
  Random random(7), normal(7);
  CHECK(random.uniform() == 0.5453431068423941);
  CHECK(random.uniform() == 0.3290510194117092);
  CHECK(random.uniform() == 0.9893678121651134);
  CHECK(normal.normal() == doctest::Approx(-0.5247522850166461).epsilon(1e-14));
}

TEST_CASE("random: scrambling and key derivation match known values") {
  CHECK(attn::scramble(0) == 0);
  CHECK(attn::scramble(1) == 0x688990c0U);
  CHECK(attn::scramble(0xdeadbeefU) == 0xe628c683U);
  const attn::RandomKey key = attn::derive({1, 2}, 3);
  CHECK(key.low == 0x7fe87dedU);
  CHECK(key.high == 0x13f9e053U);
}

TEST_CASE("random: keys derived from one key differ even if only the upper half of the index differs") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keys;
  for (std::uint64_t i = 1; i < 1000; ++i)
    for (const std::uint64_t index : {i, i << 32}) {
      const attn::RandomKey key = attn::derive({5, 6}, index);
      keys.emplace_back(key.low, key.high);
    }
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEST_CASE("random: uniform numbers cover the unit interval evenly") {
  constexpr int kBins = 20, kDraws = 40000;
  std::vector<int> bins(kBins);
  Random random(11);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform();
    REQUIRE(x > 0);
    REQUIRE(x < 1);
    ++bins[static_cast<std::size_t>(x * kBins)];
    sum += x;
    squares += x * x;
  }
  CHECK(sum / kDraws == doctest::Approx(0.5).epsilon(0.01));
  CHECK(squares / kDraws == doctest::Approx(1 / 3.0).epsilon(0.01));
  double chi_squared = 0;
  for (const int bin : bins) chi_squared += (bin - kDraws / kBins) * (bin - kDraws / kBins) / double(kDraws / kBins);
  CHECK(chi_squared < 43.8);  // 19 degrees of freedom: exceeded once in 1,000 seeds
  CHECK(chi_squared > 5.4);   // and below this as rarely
}

TEST_CASE("random: neighbouring counters and keys share half of their bits") {
  Index by_counter = 0, by_key = 0;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    by_counter += __builtin_popcount(attn::random_bits({3, 4}, i) ^ attn::random_bits({3, 4}, i + 1));
    by_key += __builtin_popcount(attn::random_bits(attn::derive({3, 4}, i), 0) ^
                                 attn::random_bits(attn::derive({3, 4}, i + 1), 0));
  }
  CHECK(static_cast<double>(by_counter) / 4000 == doctest::Approx(16).epsilon(0.01));
  CHECK(static_cast<double>(by_key) / 4000 == doctest::Approx(16).epsilon(0.01));
}

TEST_CASE("random: normal numbers have mean 0 and deviation 1") {
  Random random(13);
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < 40000; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  CHECK(std::abs(sum / 40000) < 0.02);
  CHECK(squares / 40000 == doctest::Approx(1).epsilon(0.03));
  CHECK(fourth / 40000 == doctest::Approx(3).epsilon(0.06));
}

TEST_CASE("random: below draws every number under its bound and no other") {
  Random random(17);
  std::vector<int> seen(7);
  for (int i = 0; i < 7000; ++i) {
    const Index drawn = random.below(7);
    REQUIRE(drawn >= 0);
    REQUIRE(drawn < 7);
    ++seen[static_cast<std::size_t>(drawn)];
  }
  CHECK(*std::min_element(seen.begin(), seen.end()) > 850);
  CHECK(random.below(1) == 0);
  CHECK(random.below(Index{1} << 40) > 7);
}

TEST_CASE("random: the seed determines a shuffle and a shuffle is a permutation") {
  const auto shuffled = [](std::uint64_t seed, int count) {
    std::vector<int> items(static_cast<std::size_t>(count));
    std::iota(items.begin(), items.end(), 0);
    Random(seed).shuffle(items);
    return items;
  };
  CHECK(shuffled(3, 8) == std::vector<int>{4, 5, 1, 6, 2, 3, 7, 0});
  CHECK(shuffled(4, 100) == shuffled(4, 100));
  CHECK(shuffled(4, 100) != shuffled(5, 100));
  auto sorted = shuffled(4, 100);
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 100; ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
  CHECK(shuffled(1, 0).empty());
  CHECK(shuffled(1, 1) == std::vector<int>{0});
}

TEST_CASE("random: a shuffle puts every element in every position equally often") {
  std::vector<std::vector<int>> seen(4, std::vector<int>(4));
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    std::string items = "abcd";
    Random(seed).shuffle(items);
    for (std::size_t i = 0; i < 4; ++i) ++seen[i][static_cast<std::size_t>(items[i] - 'a')];
  }
  for (const auto& place : seen)
    for (const int count : place) CHECK(std::abs(count - 1000) < 120);
}
