#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/content_hash.hpp"
#include "attn/text/string_map.hpp"
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_counts.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// A vocabulary of whole words. Other words map to <unk>.
class WordVocabulary {
 public:
  struct Limits {
    Index seen_at_least = 1;  // drop rarer words
    Index words = 0;          // keep only the most frequent; 0: all
  };

  /// The words in id order, special tokens first: <unk> 0, <pad> 1, <sos> 2, <eos> 3.
  explicit WordVocabulary(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::size_t i = 0; i < specials().size(); ++i)
      require(i < words_.size() && words_[i] == specials()[i], "word vocabulary: the word of id ", i, " must be ",
              specials()[i]);
    for (std::size_t i = specials().size(); i < words_.size(); ++i) {
      const bool added = ids_.emplace(words_[i], static_cast<Token>(i)).second;
      require(added, "word vocabulary: the word '", words_[i], "' has two ids, ", id(words_[i]), " and ", i);
    }
  }
  explicit WordVocabulary(const WordCounts& counts) : WordVocabulary(counts, Limits{}) {}
  WordVocabulary(const WordCounts& counts, Limits limits) : WordVocabulary(chosen(counts, limits)) {}

  std::vector<Token> encode(std::string_view text) const {
    std::vector<Token> ids;
    encode(text, ids);
    return ids;
  }
  /// Appends the id of each word of the text.
  void encode(std::string_view text, std::vector<Token>& ids) const {
    utf8::require_valid(text);
    for_each_spaced_word(text, [&](std::string_view word) { ids.push_back(id(word)); });
  }

  /// Joins the words with spaces, skipping padding, begin and end. An unknown word shows as <unk>.
  std::string decode(std::span<const Token> ids) const {
    std::string text;
    for (const Token id : ids) {
      require(id >= 0 && id < padded_size(), "word vocabulary: no word has the id ", id, ": the vocabulary has ", size());
      if (id == pad() || id == begin() || id == end() || id >= size()) continue;
      if (!text.empty()) text += ' ';
      text += words_[static_cast<std::size_t>(id)];
    }
    return text;
  }

  const std::string& name(Token id) const { return words_[static_cast<std::size_t>(id)]; }

  Token unknown() const { return 0; }
  Token pad() const { return 1; }
  Token begin() const { return 2; }
  Token end() const { return 3; }
  static constexpr Index special_tokens = 4;

  /// The id of a word, or unknown().
  Token id(std::string_view word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? unknown() : found->second;
  }
  bool contains(std::string_view word) const { return ids_.find(word) != ids_.end(); }

  Index size() const { return static_cast<Index>(words_.size()); }
  Index padded_size() const { return padded_vocabulary(size()); }
  std::uint64_t hash() const {
    ContentHash hash;
    hash.add("words");
    for (const std::string& word : words_) hash.add(word);
    return hash.value();
  }

  const std::vector<std::string>& words() const { return words_; }

 private:
  static const std::vector<std::string>& specials() {
    static const std::vector<std::string> names{"<unk>", "<pad>", "<sos>", "<eos>"};
    return names;
  }
  static std::vector<std::string> chosen(const WordCounts& counts, Limits limits) {
    std::vector<std::string> words = specials();
    for (auto& [word, count] : counts.by_frequency()) {
      const bool full = limits.words > 0 && static_cast<Index>(words.size()) >= limits.words + special_tokens;
      if (count < limits.seen_at_least || full) break;
      if (std::find(specials().begin(), specials().end(), word) == specials().end()) words.push_back(word);
    }
    return words;
  }

  std::vector<std::string> words_;
  detail::StringMap<Token> ids_;  // without special tokens: in a text, their names are unknown words
};

static_assert(Tokenizer<WordVocabulary>);

/// The number of words in both vocabularies, special tokens excluded.
inline Index shared_words(const WordVocabulary& a, const WordVocabulary& b) {
  return std::count_if(a.words().begin() + WordVocabulary::special_tokens, a.words().end(),
                       [&](const std::string& word) { return b.contains(word); });
}

}  // namespace attn
