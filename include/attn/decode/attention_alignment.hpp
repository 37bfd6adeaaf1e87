#pragma once
#include "attn/data/word_alignments.hpp"
#include "attn/decode/attention_maps.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// The tokens of a text, grouped by space-separated words: word w has tokens first[w] to first[w + 1].
struct WordTokens {
  std::vector<Token> tokens;
  std::vector<Index> first{0};

  Index words() const { return static_cast<Index>(first.size()) - 1; }
};

/// Encodes a text word by word. Each word but the first keeps the space before it, which byte-level tokenizers encode.
WordTokens encode_words(std::string_view text, const EncodesText auto& tokenizer) {
  WordTokens result;
  std::string word;
  for_each_spaced_word(text, [&](std::string_view next) {
    word.assign(result.words() > 0 ? " " : "").append(next);
    tokenizer.encode(word, result.tokens);
    result.first.push_back(static_cast<Index>(result.tokens.size()));
  });
  return result;
}

/// Groups tokens by space-separated words. A token belongs to the last word it contributes to; a token of only spaces
/// belongs to the next word.
WordTokens group_words(std::span<const Token> tokens, const DecodesTokens auto& tokenizer) {
  WordTokens result{{tokens.begin(), tokens.end()}, {}};
  std::size_t words = 0;  // in the text up to token i
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string text = tokenizer.decode(tokens.first(i + 1));
    words = 0;
    for_each_spaced_word(text, [&](std::string_view) { ++words; });
    const std::size_t begun = words + (text.ends_with(' ') ? 1 : 0);
    while (result.first.size() < std::max<std::size_t>(begun, 1)) result.first.push_back(static_cast<Index>(i));
  }
  result.first.resize(words);  // trailing spaces begin no word
  result.first.push_back(static_cast<Index>(tokens.size()));
  return result;
}

/// The decoder state that aligns a word: the one that predicts it, or the next one, whose input it is. Recurrent models
/// attend to a word before they predict it; some Transformer layers attend to the word just produced.
enum class AlignedBy { writing, reading };

/// Links each target word to the source word with most of its attention; ties go to the earlier word. Sums weights over the
/// tokens of both words. Words without tokens stay unaligned, and special tokens are ignored. Rows of the map belong to a
/// decoder that reads a begin token and then the target's tokens.
inline std::vector<WordLink> align(const AttentionMap& map, const WordTokens& source, const WordTokens& target,
                                   AlignedBy by) {
  const auto source_tokens = static_cast<Index>(source.tokens.size()),
             target_tokens = static_cast<Index>(target.tokens.size());
  require(map.translates() && map.rows > target_tokens && map.cols >= source_tokens, "align: an attention map of ",
          map.rows, " x ", map.cols, " does not fit ", source_tokens, " source tokens and ", target_tokens,
          " target tokens after a begin token. Pass a map of cross-attention.");
  const Index shift = by == AlignedBy::reading ? 1 : 0;
  std::vector<WordLink> links;
  for (Index w = 0; w < target.words(); ++w) {
    double most = 0;
    Index best = -1;
    for (Index v = 0; v < source.words(); ++v) {
      double sum = 0;
      for (Index i = target.first[static_cast<std::size_t>(w)]; i < target.first[static_cast<std::size_t>(w) + 1]; ++i)
        for (Index j = source.first[static_cast<std::size_t>(v)]; j < source.first[static_cast<std::size_t>(v) + 1]; ++j)
          sum += map(i + shift, j);
      if (sum > most) most = sum, best = v;
    }
    if (best >= 0) links.push_back({best, w});
  }
  return links;
}

/// Aligns by the last cross-attention layer, averaged over its heads. Takes the result of attention_maps.
inline std::vector<WordLink> align_by_last_layer(std::span<const AttentionMap> maps, const WordTokens& source,
                                                 const WordTokens& target, AlignedBy by = AlignedBy::writing) {
  const auto means = mean_of_heads(maps);
  const auto last = std::find_if(means.rbegin(), means.rend(), [](const AttentionMap& map) { return map.translates(); });
  require(last != means.rend(),
          "cannot align: this decoder has no attention over source tokens. Use a model with Full cross-attention.");
  return align(*last, source, target, by);
}

}  // namespace attn
