#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/data/word_alignments.hpp"
#include "attn/decode/attention_map.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// The tokens of a text, and which of them each of its words, as spaces part them, became: tokens first[w] to first[w + 1].
struct WordTokens {
  std::vector<Token> tokens;
  std::vector<Index> first{0};

  Index words() const { return static_cast<Index>(first.size()) - 1; }
};

/// Encodes a text word by word. A byte-level tokenizer counts the space before a word to it, so it gets that space.
template <EncodesText AnyTokenizer>
WordTokens encode_words(std::string_view text, const AnyTokenizer& tokenizer) {
  WordTokens result;
  std::string word;
  for_each_spaced_word(text, [&](std::string_view next) {
    word.assign(result.words() > 0 ? " " : "").append(next);
    tokenizer.encode(word, result.tokens);
    result.first.push_back(static_cast<Index>(result.tokens.size()));
  });
  return result;
}

/// The words of a text that is given as tokens, as spaces part them. A token belongs to the last word that it writes in; one
/// that is but a space to the word after it.
template <DecodesTokens AnyTokenizer>
WordTokens group_words(std::span<const Token> tokens, const AnyTokenizer& tokenizer) {
  WordTokens result{{tokens.begin(), tokens.end()}, {}};
  std::size_t words = 0;  // of the text up to a token
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string text = tokenizer.decode(tokens.first(i + 1));
    words = 0;
    for_each_spaced_word(text, [&](std::string_view) { ++words; });
    const std::size_t begun = words + (text.ends_with(' ') ? 1 : 0);
    while (result.first.size() < std::max<std::size_t>(begun, 1)) result.first.push_back(static_cast<Index>(i));
  }
  result.first.resize(words);  // spaces at the end begin no word
  result.first.push_back(static_cast<Index>(tokens.size()));
  return result;
}

/// The state of the decoder that a word is aligned by: that which writes it, or that which has read it, one later. Recurrent
/// models look for a word before they write it; of a Transformer's layers some look at what was just written.
enum class AlignedBy { writing, reading };

/// Links each word of the target with the word of the source that gets most of its attention, the earlier where two get as
/// much: weights of a word's tokens add up over the source and over the target. Words that no token stands for stay alone, and
/// special tokens are not words. The map's rows are those of a decoder that reads a begin token and then the target's tokens.
inline std::vector<WordLink> align(const AttentionMap& map, const WordTokens& source, const WordTokens& target,
                                   AlignedBy by) {
  const auto source_tokens = static_cast<Index>(source.tokens.size()),
             target_tokens = static_cast<Index>(target.tokens.size());
  require(map.translates() && map.rows > target_tokens && map.cols >= source_tokens, "align: a map of ", map.rows, " x ",
          map.cols, " is not that of the decoder over ", source_tokens, " tokens of the source and ", target_tokens,
          " of the target with a begin token");
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

/// The same of the last layer whose decoder looks at the source, by the mean of its heads, from maps as attention_maps gives
/// them.
inline std::vector<WordLink> align_by_last_layer(std::span<const AttentionMap> maps, const WordTokens& source,
                                                 const WordTokens& target, AlignedBy by = AlignedBy::writing) {
  const auto means = mean_of_heads(maps);
  const auto last = std::find_if(means.rbegin(), means.rend(), [](const AttentionMap& map) { return map.translates(); });
  require(last != means.rend(),
          "align: this model's decoder does not look at words of the source, so that its attention aligns nothing; a "
          "Linformer looks at mixtures of positions");
  return align(*last, source, target, by);
}

}  // namespace attn
