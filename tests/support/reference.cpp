#include "support/reference.hpp"

#include <filesystem>

#include "attn/checkpoint/safetensors.hpp"

namespace {

const attn::TensorView& tensor_of(const std::string& name, attn::DType type) {
  static const attn::SafetensorsFile file(std::filesystem::path(ATTN_TEST_FILES) / "ops.safetensors");
  const attn::TensorView& tensor = file[name];
  attn::require(tensor.dtype == type, name, " has numbers of another type than the test wants");
  return tensor;
}

}  // namespace

Numbers reference(const std::string& name) {
  const attn::TensorView& tensor = tensor_of(name, attn::DType::f64);
  const auto* numbers = static_cast<const double*>(tensor.bytes);
  return Numbers(numbers, numbers + tensor.elements());
}

std::vector<std::int32_t> reference_integers(const std::string& name) {
  const attn::TensorView& tensor = tensor_of(name, attn::DType::i64);
  const auto* numbers = static_cast<const std::int64_t*>(tensor.bytes);
  std::vector<std::int32_t> result;
  for (attn::Index i = 0; i < tensor.elements(); ++i) result.push_back(static_cast<std::int32_t>(numbers[i]));
  return result;
}
