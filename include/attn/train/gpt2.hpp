#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "attn/train/checkpoint.hpp"

namespace attn {

// Weights of GPT-2 in the layout of Hugging Face's GPT2LMHeadModel (model.safetensors of "gpt2", "distilgpt2", "gpt2-medium", ...).

/// What GPT-2's files call a parameter of a language model, without the prefix "transformer." that most of them have.
inline std::string gpt2_name(std::string_view parameter) {
  std::string name(parameter);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> parts{
      {{"embedding.positions.table", "wpe.weight"},
       {"embedding.table", "wte.weight"},
       {"decoder.norm", "ln_f"},
       {"decoder.layers", "h"},
       {"attention_norm", "ln_1"},
       {"feed_forward_norm", "ln_2"},
       {"attention.in", "attn.c_attn"},
       {"attention.out", "attn.c_proj"},
       {"feed_forward.up", "mlp.c_fc"},
       {"feed_forward.down", "mlp.c_proj"},
       {"output.weight", "lm_head.weight"},
       {"output.bias", "lm_head.bias"},
       {".gain", ".weight"}}};
  for (const auto& [ours, theirs] : parts)
    if (const auto at = name.find(ours); at != std::string::npos) name.replace(at, ours.size(), theirs);
  return name;
}

/// Loads them into a language model of that layout. Their products' weights are stored transposed (inputs x outputs). A parameter
/// that the file lacks, or has in another shape, is an error.
template <class Device>
void load_gpt2(const SafetensorsFile& file, Parameters<Device>& parameters) {
  using Real = typename Device::Real;
  const std::string prefix = file.find("transformer.wte.weight") != nullptr ? "transformer." : "";
  for (const auto& entry : parameters.entries()) {
    const std::string bare = gpt2_name(entry.name), name = bare.starts_with("lm_head") ? bare : prefix + bare;
    const bool transposed = bare.starts_with("h.") && entry.cols > 1;
    auto numbers = checkpoint::read_as<Real>(
        file, name, transposed ? std::vector<Index>{entry.cols, entry.rows} : checkpoint::shape_of(entry));
    if (transposed) {
      const Matrix<const Real> stored(numbers.data(), entry.cols, entry.rows);
      std::vector<Real> ours;
      ours.reserve(numbers.size());
      for (Index i = 0; i < entry.rows; ++i)
        for (Index j = 0; j < entry.cols; ++j) ours.push_back(stored(j, i));
      numbers = std::move(ours);
    }
    parameters.write(entry, numbers);
  }
}

}  // namespace attn
