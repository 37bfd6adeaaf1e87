#pragma once
#include <optional>
#include <span>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/sentences.hpp"

namespace attn {

/// The special tokens around sentences. The source ends with one too, unless `source_end` is empty: it tells the encoder that the
/// sentence is complete and not cut, and gives even an empty sentence one row to attend to.
struct SpecialTokens {
  Token begin, end;                      // of a target sentence
  std::optional<Token> source_end = {};  // of a source sentence

  /// Appends `sentence` as the encoder reads it. Training and translation both come through here, so they agree.
  void add_source(Sentences& to, std::span<const Token> sentence) const {
    to.tokens.insert(to.tokens.end(), sentence.begin(), sentence.end());
    if (source_end) to.tokens.push_back(*source_end);
    to.offsets.push_back(static_cast<std::int32_t>(to.tokens.size()));
  }
};

/// What a model learns from in one step: it reads x and begin y1 .. yn, and is to predict y1 .. yn end, row by row.
struct Batch {
  Sentences source;                      // x1 .. xm end
  Sentences target_input;                // begin y1 .. yn
  Sentences target_output;               // y1 .. yn end
  std::vector<Index> sentence_ids = {};  // where in the corpus each pair stands, if it is from one

  /// A batch of sentences and their translations, all without special tokens, which are added here.
  static Batch of(const Sentences& source, const Sentences& target, const SpecialTokens& special_tokens) {
    require(source.size() == target.size(), "Batch: ", source.size(), " source sentences do not pair with ", target.size(),
            " target sentences");
    Batch batch;
    for (Index i = 0; i < source.size(); ++i) batch.add(source[i], target[i], special_tokens);
    return batch;
  }

  /// Appends a pair, without special tokens.
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
  Index labels() const { return static_cast<Index>(target_output.tokens.size()); }  // tokens that are predicted
  bool operator==(const Batch&) const = default;
};

}  // namespace attn
