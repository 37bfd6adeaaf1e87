#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/train/safetensors.hpp"
#include "support/tensor.hpp"

/// The numbers of PyTorch in tests/files/ops.safetensors, which tests/python/reference.py wrote: reference("linear/x").
inline Numbers reference(const std::string& name) {
  static const attn::SafetensorsFile file(std::filesystem::path(ATTN_TEST_FILES) / "ops.safetensors");
  const attn::TensorView& tensor = file[name];
  attn::require(tensor.dtype == attn::DType::f64, name, " is not F64");
  const auto* numbers = static_cast<const double*>(tensor.bytes);
  return Numbers(numbers, numbers + tensor.elements());
}

inline std::vector<std::int32_t> reference_integers(const std::string& name) {
  static const attn::SafetensorsFile file(std::filesystem::path(ATTN_TEST_FILES) / "ops.safetensors");
  const attn::TensorView& tensor = file[name];
  attn::require(tensor.dtype == attn::DType::i64, name, " is not I64");
  const auto* numbers = static_cast<const std::int64_t*>(tensor.bytes);
  std::vector<std::int32_t> result;
  for (attn::Index i = 0; i < tensor.elements(); ++i) result.push_back(static_cast<std::int32_t>(numbers[i]));
  return result;
}

/// How far a result in T may be from PyTorch's in double.
template <class T>
inline constexpr double kReferenceTolerance = sizeof(T) == 8 ? 1e-10 : 5e-6;
