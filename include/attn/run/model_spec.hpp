#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/types.hpp"

namespace attn {

/// Which model: its registered name, which stands for a type, and what the type is told at run time.
struct ModelSpec {
  std::string name;
  Index source_vocabulary = 0, target_vocabulary = 0;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  bool share_embeddings = false, tie_output = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSpec, name, source_vocabulary, target_vocabulary, dropout, attention_dropout,
                                   activation_dropout, share_embeddings, tie_output)

}  // namespace attn
