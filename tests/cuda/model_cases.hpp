#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/devices.hpp"

// What the tests of whole models share: the kinds of models, and sentences for them.

inline constexpr Kind kRecurrent[] = {Kind::additive_on_past,  Kind::multiplicative_on_self_attention,
                                      Kind::key_value,         Kind::coursework,
                                      Kind::deeper_coursework, Kind::lexical_coursework,
                                      Kind::plain_coursework};
inline constexpr Kind kKinds[] = {Kind::transformer, Kind::linformer, Kind::wide_heads, kRecurrent[0], kRecurrent[1],
                                  kRecurrent[2],     kRecurrent[3],   kRecurrent[4],    kRecurrent[5], kRecurrent[6]};

/// Pairs of sentences; of length `source`, and what is to be said is the source reversed, at most `target` of it.
inline attn::Batch batch_of(const std::vector<std::pair<attn::Index, attn::Index>>& lengths, std::uint64_t seed) {
  attn::Random random(seed);
  attn::Batch batch;
  for (const auto& [source, target] : lengths) {
    std::vector<attn::Token> from, input{2}, output;
    for (attn::Index i = 0; i < source; ++i) from.push_back(static_cast<attn::Token>(4 + random.below(kVocabulary - 4)));
    output.assign(from.rbegin(), from.rbegin() + std::min(source, target));
    input.insert(input.end(), output.begin(), output.end());
    output.push_back(3);
    batch.source.push_back(from);
    batch.target_input.push_back(input);
    batch.target_output.push_back(output);
  }
  return batch;
}

/// Empty sentences, single words, and whole ones.
inline attn::Batch mixed_batch(std::uint64_t seed) {
  return batch_of({{12, 12}, {0, 0}, {1, 1}, {kLongest, kLongest}, {7, 0}, {33, 20}, {1, 0}, {0, 0}}, seed);
}

/// Words to reverse.
inline attn::Batch task(std::uint64_t seed, attn::Index most = 6) {
  attn::Random random(seed);
  std::vector<std::pair<attn::Index, attn::Index>> lengths;
  for (int i = 0; i < 32; ++i) {
    const attn::Index length = 1 + random.below(most);
    lengths.emplace_back(length, length);
  }
  return batch_of(lengths, seed);
}

template <class Device>
constexpr bool kFloat = Device::precision == Precision::float32;
