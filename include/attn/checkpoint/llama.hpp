#pragma once
#include "attn/checkpoint/load_model.hpp"

namespace attn {

// Weights in the layout of Hugging Face's LlamaForCausalLM (model.safetensors), for the language model Llama. Set
// LanguageModelOptions::norm_epsilon to rms_norm_eps and TransformerShape::rope_base to rope_theta of config.json.
// Unsupported: scaled rotary positions (rope_scaling) and head dimensions other than hidden_size / num_attention_heads.

/// The name of a parameter in the file, without the prefix "model.". attn stores queries, keys and values in one matrix,
/// the file in three tensors; load_llama maps them.
inline std::string llama_name(std::string_view parameter) {
  return tensor_names::renamed(std::string(parameter), {{"embedding.table", "embed_tokens.weight"},
                                                        {"decoder.norm.gain", "norm.weight"},
                                                        {"decoder.layers", "layers"},
                                                        {"feed_forward_norm.gain", "post_attention_layernorm.weight"},
                                                        {"attention_norm.gain", "input_layernorm.weight"},
                                                        {"attention.out", "self_attn.o_proj"},
                                                        {"feed_forward.gate", "mlp.gate_proj"},
                                                        {"feed_forward.up", "mlp.up_proj"},
                                                        {"feed_forward.down", "mlp.down_proj"}});
}

/// Loads the weights into a language model with Llama's layers. Biases missing in the file keep their values, which are 0
/// in a new network. A missing output layer is tied to the embedding table.
inline void load_llama(const SafetensorsFile& file, auto& network) {
  const std::string prefix = file.find("model.embed_tokens.weight") != nullptr ? "model." : "";
  LoadOptions options;
  options.allow_left_over = [](const std::string& tensor) { return tensor.ends_with("rotary_emb.inv_freq"); };
  options.parts_of = [&](const std::string& parameter) {
    std::vector<StoredPart> parts;
    constexpr std::string_view in = "attention.in.";
    if (const auto at = parameter.find(in); at != std::string::npos) {
      for (const char* projection : {"q_proj.", "k_proj.", "v_proj."})
        parts.push_back(
            {prefix + llama_name(parameter.substr(0, at)) + "self_attn." + projection + parameter.substr(at + in.size())});
    } else if (parameter == "output.weight") {
      parts.push_back({file.find("lm_head.weight") != nullptr ? "lm_head.weight" : prefix + "embed_tokens.weight"});
    } else {
      parts.push_back({prefix + llama_name(parameter)});
    }
    if (parameter.ends_with(".bias") && file.find(parts[0].name) == nullptr) parts.clear();
    return parts;
  };
  load_model(file, network, options);
}

}  // namespace attn
