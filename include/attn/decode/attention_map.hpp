#pragma once
#include <span>
#include <string>
#include <vector>

#include "attn/core/types.hpp"

namespace attn {

/// The meaning of a map's rows or columns: tokens of one side, or mixtures of several tokens, such as the Linformer's
/// projections.
enum class Side { source, target, mixtures };

/// The attention weights of one head of one layer for one sentence pair.
struct AttentionMap {
  std::string layer;  // name in the model and in checkpoints: "decoder.layers.0.cross_attention"
  int head = 0, heads = 1;
  Side of = Side::target;  // rows: the queries
  Side at = Side::source;  // columns: the keys
  Index rows = 0, cols = 0;
  std::vector<float> weights;  // rows x cols; a row sums to 1, or to 0 if it has no keys

  float operator()(Index row, Index col) const { return weights[static_cast<std::size_t>(row * cols + col)]; }
  /// Whether this is cross-attention: target queries over source keys.
  bool translates() const { return of == Side::target && at == Side::source; }
};

/// Averages the heads of each layer into one map. Heads of a layer must be adjacent, as attention_maps returns them.
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
