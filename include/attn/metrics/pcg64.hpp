#pragma once
#include <array>
#include <cstdint>

#include "attn/core/types.hpp"

namespace attn {

/// Reproduces numpy.random.default_rng(seed), so that resampling draws the same sentences as sacreBLEU. PCG64 (O'Neill
/// 2014) is a 128-bit linear congruential generator with an XSL-RR output, seeded by numpy's SeedSequence. The rest of attn
/// uses core/random.hpp.
class Pcg64 {
 public:
  explicit Pcg64(std::uint64_t seed) {
    const auto words = seed_words(seed);
    increment_ = (join(words[2], words[3]) << 1) | 1;
    next();
    state_ += join(words[0], words[1]);
    next();
  }

  /// 32 random bits. Each 64-bit step gives its low half first, then its high half.
  std::uint32_t bits() {
    has_half_ = !has_half_;
    if (!has_half_) return half_;
    const std::uint64_t both = next();
    half_ = static_cast<std::uint32_t>(both >> 32);
    return static_cast<std::uint32_t>(both);
  }

  /// A uniform integer below `count` (Lemire 2019), as choice(count) draws for counts below 2^32. A count of 1 consumes no
  /// bits.
  Index below(Index count) {
    if (count == 1) return 0;
    const auto range = static_cast<std::uint64_t>(count);
    std::uint64_t product = bits() * range;
    const std::uint64_t threshold = (std::uint64_t{1} << 32) % range;
    while ((product & 0xffffffffU) < threshold) product = bits() * range;
    return static_cast<Index>(product >> 32);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  static Wide join(std::uint64_t high, std::uint64_t low) { return static_cast<Wide>(high) << 64 | low; }

  std::uint64_t next() {
    state_ = state_ * join(0x2360ed051fc65da4U, 0x4385df649fccf645U) + increment_;
    const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
    const auto turn = static_cast<unsigned>(state_ >> 122);
    return folded >> turn | folded << ((64 - turn) & 63);
  }

  /// numpy's SeedSequence: mixes the seed into a pool of four words and hashes four 64-bit words out of it.
  static std::array<std::uint64_t, 4> seed_words(std::uint64_t seed) {
    std::uint32_t hash = 0x43b0d7e5U;
    const auto hashed = [&hash](std::uint32_t value, std::uint32_t multiplier) {
      value ^= hash;
      hash *= multiplier;
      value *= hash;
      return value ^ value >> 16;
    };
    std::array<std::uint32_t, 4> pool{};
    for (std::size_t i = 0; i < 4; ++i)
      pool[i] = hashed(i < 2 ? static_cast<std::uint32_t>(seed >> (32 * i)) : 0, 0x931e8875U);
    for (std::size_t from = 0; from < 4; ++from)
      for (std::size_t to = 0; to < 4; ++to)
        if (from != to) {
          const std::uint32_t mixed = 0xca01f9ddU * pool[to] - 0x4973f715U * hashed(pool[from], 0x931e8875U);
          pool[to] = mixed ^ mixed >> 16;
        }
    std::array<std::uint64_t, 4> words{};
    hash = 0x8b51f9ddU;
    for (std::size_t i = 0; i < 8; ++i)
      words[i / 2] |= static_cast<std::uint64_t>(hashed(pool[i % 4], 0x58f38dedU)) << (32 * (i % 2));
    return words;
  }

  Wide state_ = 0, increment_ = 0;
  std::uint32_t half_ = 0;
  bool has_half_ = false;
};

}  // namespace attn
