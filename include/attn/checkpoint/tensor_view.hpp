#pragma once
#include <bit>
#include <map>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Number types of a safetensors file that occupy whole bytes. Models use f64, f32, f16 and bf16.
enum class DType { f64, i64, u64, f32, i32, u32, f16, bf16, i16, u16, f8_e5m2, f8_e4m3, i8, u8, boolean };

/// The name of each DType in a file, and its bytes per number.
using DTypeFormat = std::pair<std::string_view, Index>;
inline constexpr DTypeFormat dtype_formats[] = {{"F64", 8},     {"I64", 8},     {"U64", 8},  {"F32", 4}, {"I32", 4},
                                                {"U32", 4},     {"F16", 2},     {"BF16", 2}, {"I16", 2}, {"U16", 2},
                                                {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I8", 1},   {"U8", 1},  {"BOOL", 1}};
inline std::string_view name_of(DType dtype) { return dtype_formats[static_cast<int>(dtype)].first; }
inline Index size_of(DType dtype) { return dtype_formats[static_cast<int>(dtype)].second; }

/// The DType of a C++ type. Specialize it for custom types, such as a 16-bit float.
template <class T>
inline constexpr DType dtype_of =
    [] { static_assert(sizeof(T) == 0, "no DType for this type: specialise attn::dtype_of"); }();
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<float> = DType::f32;

/// Exact: bfloat16 is the upper half of a float (1 sign, 8 exponent and 7 mantissa bits).
inline float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// Exact conversion from IEEE half precision (1 sign, 5 exponent and 10 mantissa bits); keeps the bits of a NaN.
inline float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu, mantissa = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals, in steps of 2^-24: normal numbers as float
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -size : size;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

inline bool is_floating(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

/// Converts numbers of a floating type, aligned or not. Rounds doubles to float; those out of range become infinite.
template <class Real>
void convert_numbers(DType dtype, const void* bytes, std::span<Real> into) {
  const auto each = [&]<class Stored>(Stored, auto value_of) {
    const char* next = static_cast<const char*>(bytes);
    for (Real& number : into) {
      Stored stored;
      std::memcpy(&stored, next, sizeof stored);
      next += sizeof stored;
      number = static_cast<Real>(value_of(stored));
    }
  };
  switch (dtype) {
    case DType::f64:
      return each(double{}, [](double value) { return value; });
    case DType::f32:
      return each(float{}, [](float value) { return value; });
    case DType::f16:
      return each(std::uint16_t{}, from_float16);
    case DType::bf16:
      return each(std::uint16_t{}, from_bfloat16);
    default:
      std::ranges::fill(into, static_cast<Real>(std::nan("")));  // callers check is_floating() first
  }
}

/// A named tensor that does not own its numbers; row-major.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Index> shape;
  const void* bytes = nullptr;

  Index elements() const {
    Index count = 1;
    for (const Index extent : shape) count *= extent;
    return count;
  }
};

/// Views numbers in memory as a tensor: tensor_view<float>("output.bias", bias, {8000}).
template <class T>
TensorView tensor_view(std::string name, std::span<const T> values, std::vector<Index> shape) {
  TensorView view{std::move(name), dtype_of<T>, std::move(shape), values.data()};
  require(view.elements() == std::ssize(values), "tensor '", view.name, "': its shape has ", view.elements(),
          " elements, but there are ", values.size(), " values");
  return view;
}

/// Key-value metadata of a file.
using Metadata = std::map<std::string, std::string>;

}  // namespace attn
