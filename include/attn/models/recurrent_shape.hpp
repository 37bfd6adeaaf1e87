#pragma once
#include "attn/core/size.hpp"

namespace attn {

/// The sizes of a recurrent model, in its type or given at run time: widths of embeddings and of states, numbers of layers.
struct RecurrentShape {
  int embedding = 128, width = 64;
  int encoder_layers = 2, decoder_layers = 2;

  bool operator==(const RecurrentShape&) const = default;
};

/// As a template argument: all sizes are given at run time.
inline constexpr RecurrentShape dynamic_recurrent_shape{dynamic, dynamic, dynamic, dynamic};

/// The sizes of two papers. Chittersu compares attention mechanisms, English to German. The Edinburgh coursework improves
/// Luong's model, German to English.
inline constexpr RecurrentShape comparison_shape{.embedding = 128, .width = 64, .encoder_layers = 2, .decoder_layers = 2};
inline constexpr RecurrentShape coursework_shape{.embedding = 64, .width = 128, .encoder_layers = 1, .decoder_layers = 1};
inline constexpr RecurrentShape deeper_coursework_shape{
    .embedding = 64, .width = 128, .encoder_layers = 2, .decoder_layers = 3};

/// The recurrent models that attn::compiled registers. Each score has three models: attention over the encoder, over the
/// decoder's past too, and over both on top of self-attention.
inline constexpr auto recurrent_model_names =
    std::to_array({"additive-both", "additive-encoder", "additive-self", "input-feeding", "input-feeding-deeper",
                   "input-feeding-lexical", "input-feeding-plain", "key-value-both", "key-value-encoder", "key-value-self",
                   "multiplicative-both", "multiplicative-encoder", "multiplicative-self", "scaled-dot-both",
                   "scaled-dot-encoder", "scaled-dot-self", "seq2seq"});

/// The usual sizes of one of these models; empty for other names.
inline std::optional<RecurrentShape> find_recurrent_shape(std::string_view name) {
  if (std::ranges::find(recurrent_model_names, name) == recurrent_model_names.end()) return {};
  if (!name.starts_with("input-feeding")) return comparison_shape;
  return name == "input-feeding-deeper" ? deeper_coursework_shape : coursework_shape;
}
inline bool is_recurrent(std::string_view name) { return find_recurrent_shape(name).has_value(); }

/// The shape of a model: that of its type or, if that is dynamic, the checked run-time shape.
inline RecurrentShape resolve_shape(const RecurrentShape& of_type, const RecurrentShape& given) {
  if (of_type != dynamic_recurrent_shape) return of_type;
  for (const int size : {given.embedding, given.width, given.encoder_layers, given.decoder_layers})
    require(size > 0, "a recurrent model has the shape ", given.embedding, " (embedding), ", given.width, " (width), ",
            given.encoder_layers, " and ", given.decoder_layers, " (layers). All must be positive.");
  return given;
}

/// For a decoder that starts with the states of the encoder's layers.
inline void require_equal_layers(const RecurrentShape& shape, const char* model) {
  require(shape.encoder_layers == shape.decoder_layers, model, ": the decoder's ", shape.decoder_layers,
          " layers start with the states of the encoder's ", shape.encoder_layers, ", so both need the same number");
}

/// Dropout rates: of embeddings, of encoder states and between layers, of the attention output.
struct RecurrentDropout {
  float embedding = 0, states = 0, attention = 0;
};

}  // namespace attn
