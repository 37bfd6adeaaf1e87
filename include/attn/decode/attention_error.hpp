#pragma once
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/decode/attention_alignment.hpp"
#include "attn/decode/attention_maps.hpp"
#include "attn/metrics/alignment_error.hpp"

namespace attn {

/// The alignment error of the attention of a model, mean of the heads, for each layer whose decoder looks at words of the
/// source and for both states that a word can be aligned by.
class AttentionError {
 public:
  struct Layer {
    std::string name;
    AlignmentError writing, reading;
  };

  /// Adds the maps of a sentence pair, which is number `line` of its text.
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

  /// A line a layer: error rate, precision and recall of the states that write, the same of those that have read, its name. A
  /// model without such layers is an Error.
  std::string to_string() const {
    require(!layers_.empty(),
            "this model's decoder does not look at words of the source, so that its attention aligns nothing; a Linformer "
            "looks at mixtures of positions");
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
