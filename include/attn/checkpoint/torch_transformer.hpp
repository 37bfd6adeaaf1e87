#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/checkpoint/load_model.hpp"

namespace attn {

/// Maps a parameter of an encoder or decoder to the state dict of torch.nn.Transformer, for LoadOptions::parts_of.
/// Parameters of other layers keep their names. PyTorch has a final norm in both stacks: norm_first=True is PreNorm,
/// norm_first=False is PostNormAndFinal.
inline std::vector<StoredPart> torch_transformer_parts(std::string_view parameter) {
  std::string name(parameter);
  const bool third = name.find("decoder.") != std::string::npos;  // decoder layers have three norms
  const std::array<std::pair<std::string_view, std::string_view>, 11> parts{
      {{"self_attention.", "self_attn."},
       {"cross_attention.", "multihead_attn."},
       {".attention.", ".self_attn."},
       {".attention_norm", ".norm1"},
       {".self_norm", ".norm1"},
       {".cross_norm", ".norm2"},
       {".feed_forward_norm", third ? ".norm3" : ".norm2"},
       {"feed_forward.up", "linear1"},
       {"feed_forward.down", "linear2"},
       {"attn.in.", "attn.in_proj_"},
       {"attn.out.", "attn.out_proj."}}};
  for (const auto& [ours, theirs] : parts)
    if (const auto at = name.find(ours); at != std::string::npos) name.replace(at, ours.size(), theirs);
  if (name.ends_with(".gain")) name.replace(name.size() - 4, 4, "weight");
  return {{name}};
}

}  // namespace attn
