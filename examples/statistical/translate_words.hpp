#pragma once
#include "attn/align/replace_unknown.hpp"
#include "attn/text/word_split.hpp"
#include "statistical/stack_decoder.hpp"

namespace statistical {

inline std::vector<std::string> spaced_words(std::string_view line) {
  std::vector<std::string> words;
  for_each_spaced_word(line, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

inline void append_word(std::string& text, std::string_view word) { text.append(text.empty() ? "" : " ").append(word); }

/// Word-for-word translation: the most probable entry of the table for each word, in the order of the source.
inline std::string translate_word_for_word(const WordTranslation& translate, std::string_view line) {
  std::string text;
  for (const std::string& word : spaced_words(line)) append_word(text, translate(word));
  return text;
}

/// The noisy channel's translation of a line. Words that the channel does not know are copied.
inline std::string translate_by_stacks(const StackDecoder& decode, const WordVocabulary& source,
                                       const WordVocabulary& target, const std::string& line) {
  const std::vector<std::string> words = spaced_words(line);
  const StackTranslation translation = decode(source.encode(line));
  std::string text;
  for (std::size_t i = 0; i < translation.words.size(); ++i)
    append_word(text, translation.words[i] == target.unknown() ? words[static_cast<std::size_t>(translation.sources[i])]
                                                               : target.name(translation.words[i]));
  return text;
}

}  // namespace statistical
