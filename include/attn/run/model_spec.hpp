#pragma once
#include <charconv>
#include <nlohmann/json.hpp>

#include "attn/models/recurrent_shape.hpp"
#include "attn/models/transformer_shape.hpp"

namespace attn {

/// Selects a model: the name of a registered architecture or a preset, and its run-time options.
struct ModelSpec {
  std::string name;
  Index source_vocabulary = 0, target_vocabulary = 0;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  bool share_embeddings = false, tie_output = false;
  std::optional<TransformerShape> shape = {};          // of an architecture; a preset's name implies it
  std::optional<RecurrentShape> recurrent_shape = {};  // of a recurrent model; its name implies the usual one
};

namespace detail {

/// Calls visit(name, member) for the entries that a specification has in every model.json.
void visit_spec(auto& spec, const auto& visit) {
  visit("name", spec.name);
  visit("source_vocabulary", spec.source_vocabulary), visit("target_vocabulary", spec.target_vocabulary);
  visit("dropout", spec.dropout), visit("attention_dropout", spec.attention_dropout);
  visit("activation_dropout", spec.activation_dropout);
  visit("share_embeddings", spec.share_embeddings), visit("tie_output", spec.tie_output);
}

}  // namespace detail

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TransformerShape, encoder_layers, decoder_layers, width, heads, inner, linformer_k,
                                   linformer_n, key_value_heads, rope_base)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecurrentShape, embedding, width, encoder_layers, decoder_layers)

inline void to_json(nlohmann::json& json, const ModelSpec& spec) {
  detail::visit_spec(spec, [&](const char* name, const auto& value) { json[name] = value; });
  if (spec.shape) json["shape"] = *spec.shape;
  if (spec.recurrent_shape) json["recurrent_shape"] = *spec.recurrent_shape;
}
inline void from_json(const nlohmann::json& json, ModelSpec& spec) {
  detail::visit_spec(spec, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  if (json.contains("shape")) {
    nlohmann::json shape = json.at("shape");
    if (shape.is_object()) shape.emplace("rope_base", TransformerShape{}.rope_base);  // absent in older files
    spec.shape = shape.get<TransformerShape>();
  }
  if (json.contains("recurrent_shape")) spec.recurrent_shape = json.at("recurrent_shape").get<RecurrentShape>();
}

// The library compiles one Transformer per combination of policies, with the shape given at run time. A preset names an
// architecture and a shape: transformer-base-pre, linformer32-small.

struct ModelPreset {
  std::string architecture;  // its name in the registry: transformer-pre, linformer
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
  constexpr std::string_view kPre = "-pre";
  const bool pre = name.ends_with(kPre);
  if (pre) name.remove_suffix(kPre.size());
  const std::size_t dash = std::min(name.find('-'), name.size());
  const auto k = linformer_k(name.substr(0, dash));
  auto shape = find_preset_shape(name.substr(std::min(dash + 1, name.size())));
  if (!shape || (!k && name.substr(0, dash) != "transformer")) return {};
  if (k) shape->linformer_k = *k, shape->linformer_n = preset_linformer_n;
  return ModelPreset{std::string(k ? "linformer" : "transformer") + (pre ? "-pre" : ""), *shape};
}

}  // namespace attn
