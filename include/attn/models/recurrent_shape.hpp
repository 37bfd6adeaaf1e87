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

/// The recurrent models that attn::compiled registers, and their usual sizes. Each score has three models: attention over
/// the encoder, over the decoder's past too, and over both on top of self-attention.
inline constexpr auto recurrent_models =
    std::to_array<std::pair<const char*, RecurrentShape>>({{"additive-both", comparison_shape},
                                                           {"additive-encoder", comparison_shape},
                                                           {"additive-self", comparison_shape},
                                                           {"input-feeding", coursework_shape},
                                                           {"input-feeding-deeper", deeper_coursework_shape},
                                                           {"input-feeding-lexical", coursework_shape},
                                                           {"input-feeding-plain", coursework_shape},
                                                           {"key-value-both", comparison_shape},
                                                           {"key-value-encoder", comparison_shape},
                                                           {"key-value-self", comparison_shape},
                                                           {"multiplicative-both", comparison_shape},
                                                           {"multiplicative-encoder", comparison_shape},
                                                           {"multiplicative-self", comparison_shape},
                                                           {"scaled-dot-both", comparison_shape},
                                                           {"scaled-dot-encoder", comparison_shape},
                                                           {"scaled-dot-self", comparison_shape},
                                                           {"seq2seq", comparison_shape}});

/// The usual sizes of one of these models; empty for other names.
inline std::optional<RecurrentShape> find_recurrent_shape(std::string_view name) {
  for (const auto& [known, shape] : recurrent_models)
    if (name == known) return shape;
  return {};
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
