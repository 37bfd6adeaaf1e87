#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// The names of the library's models on command lines and in checkpoints; named_models.hpp has their types.

inline const std::vector<std::string> transformer_names{"transformer", "linformer32", "linformer64", "linformer128"};

/// Each in its paper's size. A score's three are over the encoder, over the decoder's past too, and both above self-attention.
inline const std::vector<std::string> recurrent_names{"seq2seq",
                                                      "additive-encoder",
                                                      "additive-both",
                                                      "additive-self",
                                                      "multiplicative-encoder",
                                                      "multiplicative-both",
                                                      "multiplicative-self",
                                                      "scaled-dot-encoder",
                                                      "scaled-dot-both",
                                                      "scaled-dot-self",
                                                      "key-value-encoder",
                                                      "key-value-both",
                                                      "key-value-self",
                                                      "input-feeding",
                                                      "input-feeding-deeper",
                                                      "input-feeding-lexical"};

inline bool is_transformer(std::string_view name) {
  return std::ranges::find(transformer_names, name) != transformer_names.end();
}
inline bool is_recurrent(std::string_view name) {
  return std::ranges::find(recurrent_names, name) != recurrent_names.end();
}
