#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/plain_words.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace attn {

/// Tokenizes ordinary text: converts it to plain words (plain_words.hpp) of a language and looks them up. Decodes to plain
/// words.
class PlainTokenizer : public WordVocabulary {
 public:
  PlainTokenizer(WordVocabulary vocabulary, Language language)
      : WordVocabulary(std::move(vocabulary)), language_(language) {}

  Language language() const { return language_; }
  std::vector<Token> encode(std::string_view text) const { return WordVocabulary::encode(plain_words(text, language_)); }
  void encode(std::string_view text, std::vector<Token>& ids) const {
    WordVocabulary::encode(plain_words(text, language_), ids);
  }

 private:
  Language language_;
};
static_assert(Tokenizer<PlainTokenizer>);

}  // namespace attn
