#pragma once
#include "attn/checkpoint/load_model.hpp"

namespace attn {

// Weights of GPT-2 in the layout of Hugging Face's GPT2LMHeadModel ("gpt2", "distilgpt2", "gpt2-medium", ...).

/// The name of a language model's parameter in GPT-2 files, without the optional prefix "transformer.".
inline std::string gpt2_name(std::string_view parameter) {
  return tensor_names::renamed(std::string(parameter), {{"embedding.positions.table", "wpe.weight"},
                                                        {"embedding.table", "wte.weight"},
                                                        {"decoder.norm", "ln_f"},
                                                        {"decoder.layers", "h"},
                                                        {"attention_norm", "ln_1"},
                                                        {"feed_forward_norm", "ln_2"},
                                                        {"attention.in", "attn.c_attn"},
                                                        {"attention.out", "attn.c_proj"},
                                                        {"feed_forward.up", "mlp.c_fc"},
                                                        {"feed_forward.down", "mlp.c_proj"},
                                                        {"output.weight", "lm_head.weight"},
                                                        {"output.bias", "lm_head.bias"},
                                                        {".gain", ".weight"}});
}

/// Tensors of some files that are not parameters: masks, and a copy of the embedding table.
inline bool left_over_in_gpt2(const std::string& tensor) {
  return tensor.ends_with(".attn.bias") || tensor.ends_with(".attn.masked_bias") || tensor == "lm_head.weight";
}

/// Loads the weights into a language model with GPT-2's layers. The file stores linear weights as inputs x outputs.
inline void load_gpt2(const SafetensorsFile& file, auto& network) {
  const std::string prefix = file.find("transformer.wte.weight") != nullptr ? "transformer." : "";
  LoadOptions options{.allow_left_over = left_over_in_gpt2};
  options.parts_of = [&](const std::string& parameter) {
    const std::string name = gpt2_name(parameter);
    const bool matrix = name.starts_with("h.") && name.ends_with(".weight") && name.find(".ln_") == std::string::npos;
    return std::vector<StoredPart>{{name.starts_with("lm_head") ? name : prefix + name, matrix}};
  };
  load_model(file, network, options);
}

}  // namespace attn
