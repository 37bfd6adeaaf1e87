#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "attn/attention/linformer.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/transformer.hpp"
#include "attn/run/model_spec.hpp"

namespace attn {

// From a model's description to the options of its type, and from its type to words. A model of one's own that takes other
// options than these brings a function of its own to ModelRegistry::add.

inline TransformerOptions options_from(const ModelSpec& spec, const TransformerOptions&) {
  return {.source_vocabulary = spec.source_vocabulary,
          .target_vocabulary = spec.target_vocabulary,
          .dropout = {static_cast<float>(spec.dropout), static_cast<float>(spec.attention_dropout),
                      static_cast<float>(spec.activation_dropout)},
          .share_embeddings = spec.share_embeddings,
          .tie_output = spec.tie_output};
}

inline RecurrentOptions options_from(const ModelSpec& spec, const RecurrentOptions&) {
  require(!spec.share_embeddings && !spec.tie_output, spec.name,
          " is a recurrent model: its tables are its own; leave share_embeddings and tie_output off");
  const auto rate = static_cast<float>(spec.dropout);
  return {.source_vocabulary = spec.source_vocabulary,
          .target_vocabulary = spec.target_vocabulary,
          .dropout = {rate, rate, rate}};
}

/// What a model's type fixes, for model.json.
template <class Model>
nlohmann::json describe_shape() {
  nlohmann::json shape{{"width", Model::width}};
  if constexpr (requires { Model::shape; }) {
    shape["encoder_layers"] = Model::shape.encoder_layers;
    shape["decoder_layers"] = Model::shape.decoder_layers;
  }
  if constexpr (requires { Model::shape.heads; }) {
    using Final = typename Model::NormPolicy::template Final<typename Model::DeviceType, Model::width>;
    shape["heads"] = Model::shape.heads;
    shape["inner"] = Model::shape.inner;
    shape["norm"] = std::is_same_v<Final, Identity<typename Model::DeviceType, Model::width>> ? "post" : "pre";
    if constexpr (requires { Model::AttentionPolicy::k; })
      shape["attention"] = "linformer, k = " + std::to_string(Model::AttentionPolicy::k);
    else
      shape["attention"] = "full";
  }
  if constexpr (requires { Model::shape.words; }) shape["words"] = Model::shape.words;
  return shape;
}

}  // namespace attn
