#pragma once
#include "attn/checkpoint/load_model.hpp"

namespace attn {

// Weights of Marian Transformers in the layout of Hugging Face's MarianMTModel.

/// Maps a parameter of a Marian model to MarianMTModel's tensors. Queries, keys and values are separate tensors, and the
/// output bias is a matrix of one row.
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
  if (parameter == "output.bias" && file.find("final_logits_bias") == nullptr) return {};  // keeps the 0 of a new model
  if (parameter == "output.bias") return {{.name = "final_logits_bias", .transposed = true}};

  const std::string name =
      tensor_names::renamed("model." + std::string(parameter), {{"self_attention.", "self_attn."},
                                                                {"cross_attention.", "encoder_attn."},
                                                                {".attention.", ".self_attn."},
                                                                {".attention_norm", ".self_attn_layer_norm"},
                                                                {".self_norm", ".self_attn_layer_norm"},
                                                                {".cross_norm", ".encoder_attn_layer_norm"},
                                                                {".feed_forward_norm", ".final_layer_norm"},
                                                                {"feed_forward.up", "fc1"},
                                                                {"feed_forward.down", "fc2"},
                                                                {".out.", ".out_proj."},
                                                                {".gain", ".weight"}});
  const auto in = name.find("attn.in.");
  if (in == std::string::npos) return {{name}};
  std::vector<StoredPart> all;
  for (const char* which : {"q_proj.", "k_proj.", "v_proj."}) all.push_back({std::string(name).replace(in + 5, 3, which)});
  return all;
}

/// Tensors of some files that are not parameters: positions, which are computed, and copies of the shared table.
inline bool left_over_in_marian(const std::string& tensor) {
  constexpr std::array<std::string_view, 5> names{
      "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight", "model.encoder.embed_tokens.weight",
      "model.decoder.embed_tokens.weight", "lm_head.weight"};
  return std::ranges::find(names, tensor) != names.end();
}

/// LoadOptions for a Marian model of this width.
inline LoadOptions marian_layout(const SafetensorsFile& file, Index width) {
  LoadOptions options{.allow_left_over = left_over_in_marian};
  options.parts_of = [&file, width](const std::string& parameter) {
    auto parts = marian_parts(file, parameter);
    if (parts.size() == 3)  // queries, keys and values have equal widths
      for (StoredPart& part : parts) part.tensor_rows = width;
    return parts;
  };
  return options;
}

/// Loads the weights into a Marian model. Add the padding token to SearchOptions::never: translations must not contain it.
void load_marian(const SafetensorsFile& file, auto& network) {
  load_model(file, network, marian_layout(file, parameters_of(network).find("target_embedding.table").cols));
}

}  // namespace attn
