#pragma once
#include <numbers>

#include "attn/core/types.hpp"

#ifdef __CUDACC__
#define ATTN_BOTH __host__ __device__
#else
#define ATTN_BOTH
#endif

namespace attn {

/// Identifies one stream of random numbers. Number i of a stream is a pure function of (key, i), so any thread on any
/// device can compute it, in any order. The backward pass recomputes dropout masks instead of storing them.
struct RandomKey {
  std::uint32_t low = 0, high = 0;
  bool operator==(const RandomKey&) const = default;
};

/// A bijection of 32-bit integers in which each output bit depends on all input bits (multiply-xorshift; C. Wellons'
/// lowbias32). Uses plain 32-bit arithmetic, so compilers can vectorise it.
ATTN_BOTH constexpr std::uint32_t scramble(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

/// 32 random bits: number `counter` of the stream `key`.
ATTN_BOTH constexpr std::uint32_t random_bits(RandomKey key, std::uint32_t counter) {
  return scramble(scramble(counter ^ key.low) + key.high);
}

/// A key derived from another and a number: substream `index` of `key`.
ATTN_BOTH constexpr RandomKey derive(RandomKey key, std::uint64_t index) {
  const std::uint32_t low = scramble(key.low + scramble(static_cast<std::uint32_t>(index)) + 0x9e3779b9U);
  const std::uint32_t high = scramble(key.high ^ scramble(static_cast<std::uint32_t>(index >> 32) + low));
  return {low, high};
}

constexpr RandomKey key_of_seed(std::uint64_t seed) { return derive({0x243f6a88U, 0x85a308d3U}, seed); }

/// A sequential stream on the host, for shuffles, generated text and initial weights.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : key_(derive(key_of_seed(seed), stream)) {}

  std::uint32_t operator()() {
    if (counter_ == 0xffffffffU) key_ = derive(key_, counter_), counter_ = 0;
    return random_bits(key_, counter_++);
  }

  /// A real number in (0, 1).
  double uniform() {
    const std::uint64_t high = (*this)(), low = (*this)();
    const std::uint64_t bits = (high << 32) | low;
    return (static_cast<double>(bits >> 12) + 0.5) / 4503599627370496.0;  // 2^52, so that adding 0.5 is exact
  }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// An integer in [0, count).
  Index below(Index count) { return static_cast<Index>(uniform() * static_cast<double>(count)); }

  /// A standard normal number (Box-Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  void shuffle(auto& items) {
    for (Index i = static_cast<Index>(items.size()) - 1; i > 0; --i)
      std::ranges::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  RandomKey key_;
  std::uint32_t counter_ = 0;
};

}  // namespace attn
