#pragma once
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The library compiles one Transformer per combination of policies, with the shape given at run time. A preset names an
// architecture and a shape: transformer-base-pre, linformer32-small, marian-6-6-512-8-2048-swish.

struct ModelPreset {
  std::string architecture;  // its name in the registry: transformer-pre, linformer, marian-swish
  TransformerShape shape;
};

inline constexpr std::array<std::pair<const char*, TransformerShape>, 4> preset_shapes{
    {{"small", small_shape}, {"medium", medium_shape}, {"base", base_shape}, {"big", big_shape}}};
inline constexpr int preset_linformer_n = 256;

inline std::optional<TransformerShape> find_preset_shape(std::string_view size) {
  for (const auto& [name, shape] : preset_shapes)
    if (name == size) return shape;
  return {};
}

/// Parses a positive integer; empty on failure.
inline std::optional<int> read_size(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return {};
  return number;
}

/// The k of "linformer32".
inline std::optional<int> linformer_k(std::string_view model) {
  constexpr std::string_view kName = "linformer";
  return model.starts_with(kName) ? read_size(model.substr(kName.size())) : std::nullopt;
}

/// Parses a preset's name; empty if it is not one.
inline std::optional<ModelPreset> find_preset(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t first = 0; first <= name.size();) {
    const std::size_t end = std::min(name.find('-', first), name.size());
    parts.push_back(name.substr(first, end - first));
    first = end + 1;
  }
  if (parts[0] == "marian" && parts.size() == 7) {
    std::array<int, 5> sizes{};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto size = read_size(parts[i + 1]);
      if (!size) return {};
      sizes[i] = *size;
    }
    return ModelPreset{"marian-" + std::string(parts[6]), {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]}};
  }
  const auto k = linformer_k(parts[0]);
  const bool pre = parts.size() == 3 && parts[2] == "pre";
  if ((parts[0] != "transformer" && !k) || parts.size() < 2 || (parts.size() > 2 && !pre)) return {};
  auto shape = find_preset_shape(parts[1]);
  if (!shape) return {};
  if (k) shape->linformer_k = *k, shape->linformer_n = preset_linformer_n;
  return ModelPreset{std::string(k ? "linformer" : "transformer") + (pre ? "-pre" : ""), *shape};
}

}  // namespace attn
