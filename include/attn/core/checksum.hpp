#pragma once
#include <bit>

#include "attn/core/format_count.hpp"

namespace attn {

/// A 64-bit checksum of a byte stream; the sizes of the chunks passed to `add` do not matter. Eight independent lanes of
/// 8-byte words let the processor work on all of them in parallel. Every step is invertible, so damage within one word
/// always changes the sum. It detects accidental damage, not tampering.
class Checksum {
 public:
  Checksum() = default;
  Checksum(const void* bytes, Index count) { add(bytes, count); }

  void add(const void* bytes, Index count) {
    if (count == 0) return;  // a tensor without elements may have a null pointer
    auto* next = static_cast<const char*>(bytes);
    length_ += static_cast<std::uint64_t>(count);
    if (filled_ > 0) {
      const Index taken = std::min(count, kBlock - filled_);
      std::memcpy(pending_.data() + filled_, next, static_cast<std::size_t>(taken));
      filled_ += taken, next += taken, count -= taken;
      if (filled_ < kBlock) return;
      mix(lanes_, pending_.data());
      filled_ = 0;
    }
    Lanes lanes = lanes_;  // in registers
    for (; count >= kBlock; next += kBlock, count -= kBlock) mix(lanes, next);
    lanes_ = lanes;
    if (count > 0) std::memcpy(pending_.data(), next, static_cast<std::size_t>(count));
    filled_ = count;
  }

  std::uint64_t value() const {
    Lanes lanes = lanes_;
    std::array<char, kBlock> last{};  // zero-padded
    std::copy_n(pending_.begin(), filled_, last.begin());
    mix(lanes, last.data());
    std::uint64_t sum = length_;
    for (const std::uint64_t lane : lanes) sum = step(sum, lane);
    sum = (sum ^ sum >> 32) * kSum;
    return sum ^ sum >> 29;
  }

  /// The value as 16 hexadecimal digits.
  std::string text() const { return detail::formatted("%016llx", static_cast<unsigned long long>(value())); }

 private:
  using Lanes = std::array<std::uint64_t, 8>;
  static constexpr Index kBlock = sizeof(Lanes);
  static constexpr std::uint64_t kWord = 0x9e3779b97f4a7c15ULL, kSum = 0xd6e8feb86659fd93ULL;  // odd: invertible

  static std::uint64_t step(std::uint64_t sum, std::uint64_t word) { return std::rotl(sum + word * kWord, 31) * kSum; }
  static void mix(Lanes& lanes, const char* block) {
    Lanes words;
    std::memcpy(words.data(), block, sizeof words);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = step(lanes[i], words[i]);
  }

  Lanes lanes_{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<char, kBlock> pending_{};
  Index filled_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace attn
