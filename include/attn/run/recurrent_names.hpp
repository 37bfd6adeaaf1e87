#pragma once
#include "attn/core/standard.hpp"

namespace attn {

/// The recurrent models that attn::compiled registers, in the sizes of their papers. Each score has three models: attention
/// over the encoder, over the decoder's past too, and over both on top of self-attention.
inline constexpr auto recurrent_model_names =
    std::to_array({"additive-both", "additive-encoder", "additive-self", "input-feeding", "input-feeding-deeper",
                   "input-feeding-lexical", "input-feeding-plain", "key-value-both", "key-value-encoder", "key-value-self",
                   "multiplicative-both", "multiplicative-encoder", "multiplicative-self", "scaled-dot-both",
                   "scaled-dot-encoder", "scaled-dot-self", "seq2seq"});

inline bool is_recurrent(std::string_view name) {
  return std::ranges::find(recurrent_model_names, name) != recurrent_model_names.end();
}

}  // namespace attn
