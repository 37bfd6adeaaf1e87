#include "attn/checkpoint/tensor_view.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace attn;

TEST_CASE("dtype: float16 values match known values") {
  CHECK(from_float16(0x0000) == 0);
  CHECK(std::signbit(from_float16(0x8000)));
  CHECK(from_float16(0x3c00) == 1);
  CHECK(from_float16(0xc000) == -2);
  CHECK(from_float16(0x3555) == 0.333251953125f);
  CHECK(from_float16(0x7bff) == 65504);
  CHECK(from_float16(0x0400) == 0x1p-14f);
  CHECK(from_float16(0x03ff) == 0x1.ff8p-15f);
  CHECK(from_float16(0x0001) == 0x1p-24f);
  CHECK(from_float16(0x8001) == -0x1p-24f);
  CHECK(from_float16(0x7c00) == std::numeric_limits<float>::infinity());
  CHECK(from_float16(0xfc00) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_float16(0x7e00)));
}

TEST_CASE("dtype: bfloat16 values match known values") {
  CHECK(from_bfloat16(0x3f80) == 1);
  CHECK(from_bfloat16(0xc040) == -3);
  CHECK(from_bfloat16(0x7f7f) == 0x1.fep127f);
  CHECK(from_bfloat16(0x0001) == 0x1p-133f);
  CHECK(from_bfloat16(0xff80) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_bfloat16(0x7fc0)));
}

TEST_CASE("dtype: all 65536 values of both 16-bit types equal sign x mantissa x 2 to the exponent") {
  const auto by_definition = [](unsigned bits, int mantissa_bits, int bias) {
    const int mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
    const int exponent = static_cast<int>((bits & 0x7fff) >> mantissa_bits), most = 0x7fff >> mantissa_bits;
    if (exponent == most) return mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
    return exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                         : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  };
  Index different = 0;
  for (unsigned bits = 0; bits < 65'536; ++bits) {
    const auto check = [&](float found, double size) {
      const bool same = std::isnan(size) ? std::isnan(found) : std::abs(static_cast<double>(found)) == size;
      different += !same || std::signbit(found) != (bits >= 0x8000);
    };
    check(from_float16(static_cast<std::uint16_t>(bits)), by_definition(bits, 10, 15));
    check(from_bfloat16(static_cast<std::uint16_t>(bits)), by_definition(bits, 7, 127));
  }
  CHECK(different == 0);
}

TEST_CASE("dtype: converts every floating type from any address") {
  const auto converted = [](DType dtype, const auto& stored) {
    std::vector<char> bytes(1 + sizeof stored);  // unaligned
    std::memcpy(bytes.data() + 1, &stored, sizeof stored);
    std::vector<double> numbers(sizeof stored / static_cast<std::size_t>(size_of(dtype)));
    convert_numbers<double>(dtype, bytes.data() + 1, numbers);
    return numbers;
  };
  const double wide[] = {0.1, -1e300};
  const float narrow[] = {0.1f, -3e38f};
  const std::uint16_t half[] = {0x3c00, 0xc000}, brain[] = {0x3f80, 0xc000};
  CHECK(converted(DType::f64, wide) == std::vector{0.1, -1e300});
  CHECK(converted(DType::f32, narrow) == std::vector<double>{0.1f, -3e38f});
  CHECK(converted(DType::f16, half) == std::vector<double>{1, -2});
  CHECK(converted(DType::bf16, brain) == std::vector<double>{1, -2});
  std::vector<float> floats(2);
  convert_numbers<float>(DType::f64, wide, floats);
  CHECK(floats == std::vector{0.1f, -std::numeric_limits<float>::infinity()});
}

TEST_CASE("dtype: every type has a unique name and a size") {
  CHECK(std::size(dtype_formats) == 15);
  CHECK(static_cast<int>(DType::boolean) == 14);
  for (std::size_t i = 0; i < std::size(dtype_formats); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(dtype_formats[i].first != dtype_formats[j].first);
  }
  CHECK(name_of(DType::f16) == "F16");
  CHECK(size_of(DType::f16) == 2);
  CHECK(name_of(DType::boolean) == "BOOL");
  CHECK(size_of(DType::boolean) == 1);
  CHECK(size_of(DType::u64) == 8);
  CHECK(is_floating(DType::bf16));
  CHECK_FALSE(is_floating(DType::i64));
}
