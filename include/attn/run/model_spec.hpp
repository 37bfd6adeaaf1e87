#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "attn/core/types.hpp"
#include "attn/models/transformer_shape.hpp"

namespace attn {

/// Which model: the name of an architecture in the registry or of a preset, and its run-time options.
struct ModelSpec {
  std::string name;
  Index source_vocabulary = 0, target_vocabulary = 0;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  bool share_embeddings = false, tie_output = false;
  std::optional<TransformerShape> shape = {};  // of an architecture; a preset's name says it
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TransformerShape, encoder_layers, decoder_layers, width, heads, inner, linformer_k,
                                   linformer_n, key_value_heads)

inline void to_json(nlohmann::json& json, const ModelSpec& spec) {
  json = {{"name", spec.name},
          {"source_vocabulary", spec.source_vocabulary},
          {"target_vocabulary", spec.target_vocabulary},
          {"dropout", spec.dropout},
          {"attention_dropout", spec.attention_dropout},
          {"activation_dropout", spec.activation_dropout},
          {"share_embeddings", spec.share_embeddings},
          {"tie_output", spec.tie_output}};
  if (spec.shape) json["shape"] = *spec.shape;
}

inline void from_json(const nlohmann::json& json, ModelSpec& spec) {
  json.at("name").get_to(spec.name);
  json.at("source_vocabulary").get_to(spec.source_vocabulary);
  json.at("target_vocabulary").get_to(spec.target_vocabulary);
  json.at("dropout").get_to(spec.dropout);
  json.at("attention_dropout").get_to(spec.attention_dropout);
  json.at("activation_dropout").get_to(spec.activation_dropout);
  json.at("share_embeddings").get_to(spec.share_embeddings);
  json.at("tie_output").get_to(spec.tie_output);
  if (json.contains("shape")) spec.shape = json.at("shape").get<TransformerShape>();
}

}  // namespace attn
