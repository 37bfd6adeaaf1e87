#pragma once
#include "attn/checkpoint/load_model.hpp"

namespace attn {

/// Maps a parameter of an encoder or decoder to the state dict of torch.nn.Transformer, for LoadOptions::parts_of.
/// Parameters of other layers keep their names. PyTorch has a final norm in both stacks: norm_first=True is PreNorm,
/// norm_first=False is PostNormAndFinal.
inline std::vector<StoredPart> torch_transformer_parts(std::string_view parameter) {
  const bool third = parameter.find("decoder.") != parameter.npos;  // decoder layers have three norms
  std::string name = tensor_names::renamed(std::string(parameter), {{"self_attention.", "self_attn."},
                                                                    {"cross_attention.", "multihead_attn."},
                                                                    {".attention.", ".self_attn."},
                                                                    {".attention_norm", ".norm1"},
                                                                    {".self_norm", ".norm1"},
                                                                    {".cross_norm", ".norm2"},
                                                                    {".feed_forward_norm", third ? ".norm3" : ".norm2"},
                                                                    {"feed_forward.up", "linear1"},
                                                                    {"feed_forward.down", "linear2"},
                                                                    {"attn.in.", "attn.in_proj_"},
                                                                    {"attn.out.", "attn.out_proj."}});
  if (name.ends_with(".gain")) name.replace(name.size() - 4, 4, "weight");
  return {{name}};
}

}  // namespace attn
