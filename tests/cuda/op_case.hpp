#pragma once
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/ops/dropout.hpp"
#include "support/bfloat16.hpp"
#include "support/tensor.hpp"

// The case list of all ops, tests/files/op_cases.json, is read by these tests and by tests/python/cuda_errors.py, which
// records how far PyTorch is from the truth in each. Both make the same operands from the same counters.

/// What a device computes in. Operands are rounded to it before anybody sees them, so that only an op's own error counts.
enum class Precision { float32, bfloat16 };

/// The largest relative error of one rounding.
constexpr double unit(Precision precision) { return precision == Precision::float32 ? 0x1p-24 : 0x1p-9; }

inline double rounded(double x, Precision precision) {
  const auto number = static_cast<float>(x);
  return precision == Precision::float32 ? static_cast<double>(number) : to_bfloat16(number);
}

/// An op with its shape and options, by name.
struct OpCase {
  std::string op, name;
  std::map<std::string, std::vector<double>> settings;

  double number(const std::string& key, double otherwise = 0) const {
    const auto found = settings.find(key);
    return found == settings.end() ? otherwise : found->second.at(0);
  }
  attn::Index size(const std::string& key, attn::Index otherwise = 0) const {
    return static_cast<attn::Index>(number(key, static_cast<double>(otherwise)));
  }
  bool flag(const std::string& key) const { return number(key) != 0; }
  std::vector<std::int32_t> lengths(const std::string& key) const {
    const auto found = settings.find(key);
    attn::require(found != settings.end(), op, ", ", name, ": the case has no ", key);
    return {found->second.begin(), found->second.end()};
  }
};

/// What an op computed. Statistics and gradients of parameters are in float whatever the precision; an exact result admits
/// no error at all. `floor` is an error that is nobody's fault, relative to the truth, or to 1 where the truth is smaller.
struct Result {
  std::string name;
  Numbers numbers;
  bool in_float = false, exact = false;
  double floor = 0;
  std::string recorded_as = {};  // whose record of PyTorch's error it has, where it has none of its own
};
using Results = std::vector<Result>;

/// Numbers 0, 1, 2, ... of a stream: uniform in [-bound, bound), then rounded.
inline Numbers operand(attn::Index count, std::uint64_t stream, Precision precision, double bound = 1) {
  const attn::RandomKey key = attn::key_of_seed(stream);
  Numbers numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint32_t bits = attn::random_bits(key, static_cast<std::uint32_t>(i)) >> 8;
    numbers[i] = rounded(bound * (static_cast<double>(bits) * 0x1p-23 - 1), precision);
  }
  return numbers;
}

/// The same in whole numbers from 0 to below - 1.
inline std::vector<std::int32_t> whole_numbers(attn::Index count, std::uint64_t stream, attn::Index below) {
  const attn::RandomKey key = attn::key_of_seed(stream);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int32_t>(
        (std::uint64_t{attn::random_bits(key, static_cast<std::uint32_t>(i))} * static_cast<std::uint64_t>(below)) >> 32);
  return numbers;
}

/// The dropout of a case, if it has any.
inline attn::Dropout dropout_of(const OpCase& test) {
  return {static_cast<float>(test.number("dropout")), attn::key_of_seed(9)};
}
