#pragma once
#include "attn/models/seq2seq.hpp"
#include "attn/models/transformer.hpp"
#include "attn/run/model_spec.hpp"

namespace attn {

// Converts a ModelSpec to the options of a model type, and describes a model type. For custom models with other options,
// pass a conversion to ModelRegistry::add.

inline TransformerOptions options_from(const ModelSpec& spec, const TransformerOptions&) {
  return {.source_vocabulary = spec.source_vocabulary,
          .target_vocabulary = spec.target_vocabulary,
          .dropout = {static_cast<float>(spec.dropout), static_cast<float>(spec.attention_dropout),
                      static_cast<float>(spec.activation_dropout)},
          .share_embeddings = spec.share_embeddings,
          .tie_output = spec.tie_output,
          .shape = spec.shape.value_or(base_shape)};
}

inline RecurrentOptions options_from(const ModelSpec& spec, const RecurrentOptions&) {
  require(!spec.share_embeddings && !spec.tie_output, spec.name,
          " is a recurrent model and has separate embeddings. Unset share_embeddings and tie_output.");
  const auto rate = static_cast<float>(spec.dropout);
  return {.source_vocabulary = spec.source_vocabulary,
          .target_vocabulary = spec.target_vocabulary,
          .dropout = {rate, rate, rate},
          .shape = spec.recurrent_shape.value_or(find_recurrent_shape(spec.name).value_or(RecurrentShape{}))};
}

/// The properties that a model's type fixes, for model.json.
template <class Model>
nlohmann::json describe_shape(const Model& model) {
  nlohmann::json shape = nlohmann::json::object();
  if constexpr (requires { model.shape; }) {
    shape["width"] = model.shape.width;
    shape["encoder_layers"] = model.shape.encoder_layers;
    shape["decoder_layers"] = model.shape.decoder_layers;
  } else if constexpr (requires { Model::width; }) {
    shape["width"] = int(Model::width);
  }
  if constexpr (requires { model.shape.heads; }) {
    using Device = typename Model::DeviceType;
    using Final = typename Model::NormPolicy::template Final<Device, dynamic>;
    shape["heads"] = model.shape.heads;
    shape["inner"] = model.shape.inner;
    shape["norm"] = std::is_same_v<Final, Identity<Device, dynamic>> ? "post" : "pre";
    if constexpr (requires { Model::AttentionPolicy::k; })
      shape["attention"] =
          "linformer, k = " +
          std::to_string(Model::AttentionPolicy::k == dynamic ? model.shape.linformer_k : Model::AttentionPolicy::k);
    else
      shape["attention"] = "full";
  }
  if constexpr (requires { model.shape.embedding; }) shape["embedding"] = model.shape.embedding;
  return shape;
}

/// The model width (d_model), which Vaswani's schedule needs.
template <class Model>
int width_of(const Model& model) {
  if constexpr (requires { model.shape.width; })
    return model.shape.width;
  else
    return Model::width;
}

}  // namespace attn
