#pragma once
#include <string>
#include <utility>
#include <vector>

#include "attn/run/tokenizer_files.hpp"
#include "papers/plain_words.hpp"

namespace papers {

/// Words of text as people write it: plain words (plain_words.hpp) of a language, in a vocabulary. What it decodes is plain.
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

/// Makes folders with such tokenizers readable.
inline void add_plain_tokenizers() {
  for (const auto& [name, language] : {std::pair("plain-en", Language::english), {"plain-de", Language::german}}) {
    TokenizerKind kind;
    kind.name = name;
    kind.holds = [language](const AnyTokenizer& t) {
      return t.get<PlainTokenizer>() != nullptr && t.get<PlainTokenizer>()->language() == language;
    };
    kind.save = [](const AnyTokenizer& t, const std::filesystem::path& stem) {
      save_word_vocabulary(*t.get<PlainTokenizer>(), stem.string() + ".vocab");
      return std::vector{stem.filename().string() + ".vocab"};
    };
    kind.load = [language](const std::filesystem::path& folder, const std::vector<std::string>& files) {
      return AnyTokenizer(PlainTokenizer(load_word_vocabulary(folder / files.at(0)), language));
    };
    tokenizer_kinds().push_back(kind);
  }
}

}  // namespace papers
