#pragma once
#include "attn/core/standard.hpp"

namespace attn {

/// A 64-bit FNV-1a hash of a sequence of numbers and strings, the same on every machine.
class ContentHash {
 public:
  ContentHash& add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
    return *this;
  }

  /// Also hashes the length, so that "ab", "c" and "a", "bc" differ.
  ContentHash& add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (const char byte : text) add_byte(static_cast<unsigned char>(byte));
    return *this;
  }

  ContentHash& add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
    return *this;
  }

  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace attn
