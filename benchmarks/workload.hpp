#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <vector>

#include "attn/core/random.hpp"
#include "attn/core/sentences.hpp"

/// Sentence lengths from 3 to 256, log-normal with sigma 0.6. The 64-bit generator is portable, so that PyTorch's
/// benchmarks draw the same lengths.
inline std::vector<attn::Index> lengths(std::uint64_t seed, int count, double mean) {
  std::uint64_t state = seed;
  const auto uniform = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
  };
  std::vector<attn::Index> drawn;
  for (int i = 0; i < count; ++i) {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * uniform());
    drawn.push_back(std::clamp<attn::Index>(std::llrint(std::exp(std::log(mean) - 0.18 + 0.6 * normal)), 3, 256));
  }
  return drawn;
}

/// Random tokens for sentences of these lengths.
inline attn::Sentences random_sentences(const std::vector<attn::Index>& of, attn::Index vocabulary, attn::Random& random) {
  attn::Sentences sentences;
  std::vector<attn::Token> words;
  for (const attn::Index length : of) {
    words.clear();
    for (attn::Index i = 0; i < length; ++i) words.push_back(static_cast<attn::Token>(4 + random.below(vocabulary - 4)));
    sentences.push_back(words);
  }
  return sentences;
}

inline double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Wall-clock seconds of some work on the host.
template <class Work>
double host_seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Median seconds of some work, after a warm-up run.
template <class Work>
double median_seconds(int repeats, const Work& work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(host_seconds(work));
  return median(seconds);
}
