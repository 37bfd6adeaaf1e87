#pragma once
#include "attn/attention/policy.hpp"

namespace attn {

/// The sizes of a Transformer, in its type or given at run time. The default is the paper's base model.
struct TransformerShape {
  int encoder_layers = 6, decoder_layers = 6;
  int width = 512, heads = 8, inner = 2048;
  int linformer_k = 0, linformer_n = 0;  // for a Linformer with dynamic sizes
  int key_value_heads = 0;               // for grouped-query attention; 0: the same as heads
  int rope_base = 10000;                 // of Rope; Hugging Face's rope_theta

  bool operator==(const TransformerShape&) const = default;
  constexpr AttentionShape attention() const {
    return {width, heads, linformer_k, linformer_n, key_value_heads, rope_base};
  }
};

/// As a template argument: all sizes are given at run time.
inline constexpr TransformerShape dynamic_shape{dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic};

inline constexpr TransformerShape base_shape{};
inline constexpr TransformerShape small_shape{
    .encoder_layers = 2, .decoder_layers = 2, .width = 128, .heads = 2, .inner = 512};
inline constexpr TransformerShape medium_shape{
    .encoder_layers = 4, .decoder_layers = 4, .width = 256, .heads = 4, .inner = 1024};
inline constexpr TransformerShape big_shape{
    .encoder_layers = 6, .decoder_layers = 6, .width = 1024, .heads = 16, .inner = 4096};

/// The shape of a model: that of its type or, if that is dynamic, the checked run-time shape.
inline TransformerShape resolve_shape(const TransformerShape& of_type, const TransformerShape& given) {
  if (of_type != dynamic_shape) return of_type;
  const auto positive = [](int size, const char* name) {
    require(size > 0, "Transformer: its ", name, " is ", size, "; it must be positive");
  };
  positive(given.width, "width");
  positive(given.heads, "number of heads");
  positive(given.inner, "inner width of the feed-forward block");
  require(given.width % given.heads == 0, "Transformer: a width of ", given.width, " is not a multiple of ", given.heads,
          " heads; choose a width that is");
  return given;
}

inline int layer_count(int layers, const char* stack) {
  require(layers > 0, "Transformer: its number of ", stack, " layers is ", layers, "; it must be positive");
  return layers;
}

/// Dropout rates: of embeddings and sub-layer outputs, of attention weights, of inner feed-forward activations.
struct TransformerDropout {
  float residual = 0.1f, attention = 0, activation = 0;
};

}  // namespace attn
