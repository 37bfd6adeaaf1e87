#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/train/load_model.hpp"

namespace attn {

// Weights of Marian's Transformers in the layout of Hugging Face's MarianMTModel.

/// Where MarianMTModel's files have a parameter of a Marian. Queries, keys and values stand apart in them, and the output's
/// biases are a matrix of one row.
inline std::vector<StoredPart> marian_parts(const SafetensorsFile& file, std::string_view parameter) {
  const auto first_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (file.find(name) != nullptr) return std::vector<StoredPart>{{name}};
    return std::vector<StoredPart>{{*names.begin()}};
  };
  if (parameter == "source_embedding.table") return first_of({"model.encoder.embed_tokens.weight", "model.shared.weight"});
  if (parameter == "target_embedding.table")
    return first_of({"model.shared.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"});
  if (parameter == "output.weight") return first_of({"lm_head.weight"});
  if (parameter == "output.bias" && file.find("final_logits_bias") == nullptr) return {};  // 0, as they are in a new model
  if (parameter == "output.bias") return {{.name = "final_logits_bias", .transposed = true}};

  std::string name = "model." + std::string(parameter);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> parts{
      {{"self_attention.", "self_attn."},
       {"cross_attention.", "encoder_attn."},
       {".attention.", ".self_attn."},
       {".attention_norm", ".self_attn_layer_norm"},
       {".self_norm", ".self_attn_layer_norm"},
       {".cross_norm", ".encoder_attn_layer_norm"},
       {".feed_forward_norm", ".final_layer_norm"},
       {"feed_forward.up", "fc1"},
       {"feed_forward.down", "fc2"},
       {".out.", ".out_proj."},
       {".gain", ".weight"}}};
  for (const auto& [ours, theirs] : parts)
    if (const auto at = name.find(ours); at != std::string::npos) name.replace(at, ours.size(), theirs);
  const auto in = name.find("attn.in.");
  if (in == std::string::npos) return {{name}};
  std::vector<StoredPart> all;
  for (const char* which : {"q_proj.", "k_proj.", "v_proj."}) all.push_back({std::string(name).replace(in + 5, 3, which)});
  return all;
}

/// What some of the files hold beside a Marian's parameters: positions, which are computed, and copies of the shared table.
inline bool left_over_in_marian(const std::string& tensor) {
  constexpr std::array<std::string_view, 5> names{
      "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight", "model.encoder.embed_tokens.weight",
      "model.decoder.embed_tokens.weight", "lm_head.weight"};
  return std::ranges::find(names, tensor) != names.end();
}

/// Loads them into a Marian. Tokens of `never`, padding among them, are not words: no probability is left for them, which is
/// what their biases say after loading.
template <class Device>
void load_marian(const SafetensorsFile& file, Parameters<Device>& parameters, std::span<const Token> never) {
  LoadOptions options{.allow_left_over = left_over_in_marian};
  options.parts_of = [&](const std::string& parameter) {
    auto parts = marian_parts(file, parameter);
    if (parts.size() == 3)  // queries, keys and values are as wide as each other
      for (StoredPart& part : parts) part.tensor_rows = parameters.find(parameter).rows / 3;
    return parts;
  };
  load_model(file, parameters, options);
  const auto& bias = parameters.find("output.bias");
  auto numbers = parameters.read(bias);
  for (const Token token : never) {
    require(token >= 0 && token < bias.rows, file.path().string(), ": there is no token ", token, " in a vocabulary of ",
            bias.rows);
    numbers[static_cast<std::size_t>(token)] = -1e9;  // finite, so that the model can be saved
  }
  parameters.write(bias, numbers);
}

}  // namespace attn
