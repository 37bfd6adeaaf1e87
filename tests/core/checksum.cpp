#include "attn/core/checksum.hpp"
#include "attn/core/file.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <string>

using attn::Checksum;

namespace {

std::string sum_of(const std::string& bytes) {
  Checksum sum;
  sum.add(bytes.data(), std::ssize(bytes));
  return sum.text();
}

std::string counting(std::size_t length) {
  std::string bytes(length, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

}  // namespace

TEST_CASE("checksum: matches the checksums of earlier versions") {
  CHECK(sum_of("") == "96b3852053424d1c");
  CHECK(sum_of("a") == "c8020c86c2f37306");
  CHECK(sum_of(counting(1000)) == "b9e45dba2b29faac");
}

TEST_CASE("checksum: does not depend on how the bytes are split") {
  const std::string bytes = counting(333);
  for (const std::size_t piece : {1U, 7U, 63U, 64U, 65U, 128U, 200U}) {
    Checksum sum;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      sum.add(bytes.data() + at, static_cast<attn::Index>(std::min(piece, bytes.size() - at)));
    CHECK(sum.text() == sum_of(bytes));
  }
}

TEST_CASE("checksum: depends on every bit and on the length and order of the bytes") {
  std::string bytes = counting(200);
  std::set<std::string> sums{sum_of(bytes)};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
      sums.insert(sum_of(bytes));
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
    }
  CHECK(sums.size() == 1601);
  bytes[7] = static_cast<char>(bytes[7] ^ 0x80), bytes[71] = static_cast<char>(bytes[71] ^ 0x80);
  CHECK(sums.insert(sum_of(bytes)).second);
  for (std::size_t zeros = 0; zeros < 200; ++zeros) CHECK(sums.insert(sum_of(std::string(zeros, '\0'))).second);
  CHECK(sum_of(counting(64) + std::string(64, 'x')) != sum_of(std::string(64, 'x') + counting(64)));
}
