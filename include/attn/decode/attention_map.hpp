#pragma once
#include <span>
#include <string>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// What the rows or the columns of an attention map stand for: words of one side, or numbers that a layer made of several
/// words, as the Linformer's projections are.
enum class Side { source, target, mixtures };

/// Where one head of one layer looked while a model read one sentence and wrote another.
struct AttentionMap {
  std::string layer;  // its name in the model, as in a checkpoint: "decoder.layers.0.cross_attention"
  int head = 0, heads = 1;
  Side of = Side::target;  // rows: who looks
  Side at = Side::source;  // columns: at what
  Index rows = 0, cols = 0;
  std::vector<float> weights;  // rows x cols; a row adds up to 1, or to 0 where there was nothing to see

  float operator()(Index row, Index col) const { return weights[static_cast<std::size_t>(row * cols + col)]; }
  /// Whether it is attention of the words that are written over those that are read.
  bool translates() const { return of == Side::target && at == Side::source; }
};

/// The mean of each layer's heads, as the map of a single one. Heads of a layer stand together, as attention_maps gives them.
inline std::vector<AttentionMap> mean_of_heads(std::span<const AttentionMap> maps) {
  std::vector<AttentionMap> means;
  for (const AttentionMap& map : maps) {
    if (map.head == 0) {
      means.push_back(map);
      means.back().heads = 1;
      for (float& weight : means.back().weights) weight /= static_cast<float>(map.heads);
      continue;
    }
    for (std::size_t i = 0; i < map.weights.size(); ++i)
      means.back().weights[i] += map.weights[i] / static_cast<float>(map.heads);
  }
  return means;
}

}  // namespace attn
