#pragma once
#include "attn/core/error.hpp"
#include "attn/core/sentences.hpp"

namespace attn {

/// The special tokens around sentences. Sources end with `source_end` if it is set: it tells the encoder that the sentence
/// is complete, and gives an empty sentence one row to attend to.
struct SpecialTokens {
  Token begin, end;                                // of a target sentence
  std::optional<Token> source_end = {};            // of a source sentence
  Token source_unknown = -1, target_unknown = -1;  // replace masked tokens (BatchOptions::mask_rate); -1: none

  /// Appends `sentence` in the encoder's format. Training and translation both call this, so their inputs match.
  void add_source(Sentences& to, std::span<const Token> sentence) const {
    to.tokens.insert(to.tokens.end(), sentence.begin(), sentence.end());
    if (source_end) to.tokens.push_back(*source_end);
    to.offsets.push_back(static_cast<std::int32_t>(to.tokens.size()));
  }
};

/// One training batch. The decoder reads begin y1 .. yn and predicts y1 .. yn end, row by row.
struct Batch {
  Sentences source;                      // x1 .. xm end
  Sentences target_input;                // begin y1 .. yn
  Sentences target_output;               // y1 .. yn end
  std::vector<Index> sentence_ids = {};  // index of each pair in the whole corpus; empty for other batches

  /// A batch of sentences and their translations. Adds the special tokens.
  static Batch of(const Sentences& source, const Sentences& target, const SpecialTokens& special_tokens) {
    require(source.size() == target.size(), "Batch: ", source.size(), " source sentences, but ", target.size(),
            " target sentences. Pass one target per source.");
    Batch batch;
    for (Index i = 0; i < source.size(); ++i) batch.add(source[i], target[i], special_tokens);
    return batch;
  }

  /// Appends one pair and adds its special tokens.
  void add(std::span<const Token> from, std::span<const Token> to, const SpecialTokens& special_tokens) {
    special_tokens.add_source(source, from);
    target_input.tokens.push_back(special_tokens.begin);
    target_input.push_back(to);
    target_output.tokens.insert(target_output.tokens.end(), to.begin(), to.end());
    target_output.push_back({&special_tokens.end, 1});
  }

  void clear() {
    for (Sentences* side : {&source, &target_input, &target_output}) side->clear();
    sentence_ids.clear();
  }

  Index size() const { return source.size(); }
  Index labels() const { return static_cast<Index>(target_output.tokens.size()); }  // predicted tokens
  bool operator==(const Batch&) const = default;
};

}  // namespace attn
