#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "attn/core/types.hpp"
#include "attn/models/transformer_shape.hpp"

namespace attn {

/// Selects a model: the name of a registered architecture or a preset, and its run-time options.
struct ModelSpec {
  std::string name;
  Index source_vocabulary = 0, target_vocabulary = 0;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  bool share_embeddings = false, tie_output = false;
  std::optional<TransformerShape> shape = {};  // of an architecture; a preset's name implies it
};

inline void to_json(nlohmann::json& json, const TransformerShape& shape) {
  json = {{"encoder_layers", shape.encoder_layers},
          {"decoder_layers", shape.decoder_layers},
          {"width", shape.width},
          {"heads", shape.heads},
          {"inner", shape.inner},
          {"linformer_k", shape.linformer_k},
          {"linformer_n", shape.linformer_n},
          {"key_value_heads", shape.key_value_heads},
          {"rope_base", shape.rope_base}};
}

inline void from_json(const nlohmann::json& json, TransformerShape& shape) {
  json.at("encoder_layers").get_to(shape.encoder_layers);
  json.at("decoder_layers").get_to(shape.decoder_layers);
  json.at("width").get_to(shape.width);
  json.at("heads").get_to(shape.heads);
  json.at("inner").get_to(shape.inner);
  json.at("linformer_k").get_to(shape.linformer_k);
  json.at("linformer_n").get_to(shape.linformer_n);
  json.at("key_value_heads").get_to(shape.key_value_heads);
  shape.rope_base = json.value("rope_base", TransformerShape{}.rope_base);  // absent in older files
}

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
