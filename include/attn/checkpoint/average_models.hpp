#pragma once
#include "attn/checkpoint/safetensors.hpp"

namespace attn {

/// Writes the mean of several weight files, accumulated in double. Averaging the last or best checkpoints of a run often
/// translates better than any of them. All files need the same tensors; the result is float32.
inline void average_models(const std::vector<std::filesystem::path>& files, const std::filesystem::path& to,
                           const Metadata& metadata = {}) {
  require(!files.empty(), "average_models: no files. Pass at least one.");
  std::vector<SafetensorsFile> models;
  for (const auto& file : files) models.emplace_back(file);
  std::vector<std::vector<float>> means;  // grows without moving the numbers that the tensors view
  std::vector<TensorView> tensors;
  for (const TensorView& first : models[0].tensors()) {
    std::vector<double> sum(static_cast<std::size_t>(first.elements()), 0), numbers(sum.size());
    for (const SafetensorsFile& model : models) {
      const TensorView* tensor = model.find(first.name);
      require(tensor != nullptr && tensor->shape == first.shape && is_floating(tensor->dtype) &&
                  model.tensors().size() == models[0].tensors().size(),
              model.path().string(), " and ", files[0].string(), " belong to different models: tensor '", first.name,
              "' differs in shape or type. Average checkpoints of one run.");
      convert_numbers<double>(tensor->dtype, tensor->bytes, numbers);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers[i];
    }
    means.emplace_back();
    for (const double total : sum) means.back().push_back(static_cast<float>(total / static_cast<double>(models.size())));
    tensors.push_back(tensor_view<float>(first.name, means.back(), first.shape));
  }
  save_safetensors(to, tensors, metadata);
}

}  // namespace attn
