#pragma once
#include <cstdio>

#include "attn/core/error.hpp"
#include "attn/decode/attention_alignment.hpp"
#include "attn/decode/attention_maps.hpp"
#include "attn/metrics/alignment_error.hpp"

namespace attn {

/// Alignment error of head-averaged attention, for each layer with cross-attention to source words and for both AlignedBy
/// choices.
class AttentionError {
 public:
  struct Layer {
    std::string name;
    AlignmentError writing, reading;
  };

  /// Adds the attention maps of a sentence pair. `line` is its line number in the text.
  void add(std::span<const AttentionMap> maps, const WordTokens& source, const WordTokens& target,
           const GoldAlignment& gold, Index line) {
    require_within(gold, source.words(), target.words(), line);
    std::size_t layer = 0;
    for (const AttentionMap& map : mean_of_heads(maps)) {
      if (!map.translates()) continue;
      if (layers_.size() == layer) layers_.push_back({map.layer, {}, {}});
      layers_[layer].writing.add(align(map, source, target, AlignedBy::writing), gold);
      layers_[layer++].reading.add(align(map, source, target, AlignedBy::reading), gold);
    }
  }

  const std::vector<Layer>& layers() const { return layers_; }

  /// One line per layer: error rate, precision and recall for AlignedBy::writing, the same for AlignedBy::reading, then the
  /// layer's name. Throws Error if the model has no cross-attention to source words.
  std::string to_string() const {
    require(!layers_.empty(),
            "cannot align: this decoder has no attention over source tokens. Use a model with Full cross-attention.");
    std::string text;
    for (const auto& [name, writing, reading] : layers_)
      text += three(writing) + "  |" + three(reading) + "  " + name + "\n";
    return text;
  }

 private:
  static std::string three(const AlignmentError& error) {
    char text[80];
    std::snprintf(text, sizeof text, "  %.3f  %.3f  %.3f", error.rate(), error.precision(), error.recall());
    return text;
  }

  std::vector<Layer> layers_;
};

}  // namespace attn
