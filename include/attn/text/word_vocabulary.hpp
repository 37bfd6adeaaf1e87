#pragma once
#include "attn/text/tokenizer.hpp"
#include "attn/text/word_split.hpp"

namespace attn {

/// Counts the words of a text. Words are separated by any Unicode White_Space.
class WordCounts {
 public:
  WordCounts() = default;
  explicit WordCounts(std::span<const std::string> lines) {
    for (const std::string& line : lines) add(line);
  }

  void add(std::string_view line) {
    utf8::require_valid(line);
    for_each_spaced_word(line, [this](std::string_view word) {
      ++tokens_;
      ++counts_[word];
    });
  }

  Index tokens() const { return tokens_; }                            // words in the text
  Index types() const { return static_cast<Index>(counts_.size()); }  // distinct words
  Index seen_once() const { return tokens_seen_less_than(2); }
  /// The number of occurrences of words seen less than `times` times. A vocabulary without these words maps them to
  /// unknown.
  Index tokens_seen_less_than(Index times) const {
    Index tokens = 0;
    for (const auto& [word, count] : counts_) tokens += count < times ? count : 0;
    return tokens;
  }
  Index count(std::string_view word) const { return counts_.get(word, 0); }

  /// Words and counts by descending count, ties in byte order.
  std::vector<std::pair<std::string, Index>> by_frequency() const {
    std::vector<std::pair<std::string, Index>> words(counts_.begin(), counts_.end());
    std::ranges::sort(words, {}, [](const auto& one) { return std::pair(-one.second, std::string_view(one.first)); });
    return words;
  }

 private:
  detail::StringMap<Index> counts_;
  Index tokens_ = 0;
};

/// A vocabulary of whole words. Other words map to <unk>.
class WordVocabulary : public TokenizerBase<WordVocabulary> {
 public:
  struct Limits {
    Index seen_at_least = 1;  // drop rarer words
    Index words = 0;          // keep only the most frequent; 0: all
  };

  /// The words in id order, special tokens first: <unk> 0, <pad> 1, <sos> 2, <eos> 3.
  explicit WordVocabulary(std::vector<std::string> words) : words_(std::move(words)) {
    unknown_ = 0, pad_ = 1, begin_ = 2, end_ = 3;
    for (std::size_t i = 0; i < specials.size(); ++i)
      require(i < words_.size() && words_[i] == specials[i], "word vocabulary: the word of id ", i, " must be ",
              specials[i]);
    for (std::size_t i = specials.size(); i < words_.size(); ++i) {
      const bool added = ids_.emplace(words_[i], static_cast<Token>(i)).second;
      require(added, "word vocabulary: the word '", words_[i], "' has two ids, ", id(words_[i]), " and ", i);
    }
  }
  explicit WordVocabulary(const WordCounts& counts) : WordVocabulary(counts, Limits{}) {}
  WordVocabulary(const WordCounts& counts, Limits limits) : WordVocabulary(chosen(counts, limits)) {}

  using TokenizerBase<WordVocabulary>::encode;
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

  static constexpr Index special_tokens = 4;

  /// The id of a word, or unknown().
  Token id(std::string_view word) const { return ids_.get(word, unknown()); }
  bool contains(std::string_view word) const { return ids_.find(word) != ids_.end(); }

  Index size() const { return static_cast<Index>(words_.size()); }
  std::uint64_t hash() const { return ContentHash().add("words").add(words_).value(); }

  const std::vector<std::string>& words() const { return words_; }

 private:
  static constexpr std::array<std::string_view, special_tokens> specials{"<unk>", "<pad>", "<sos>", "<eos>"};

  static std::vector<std::string> chosen(const WordCounts& counts, Limits limits) {
    std::vector<std::string> words(specials.begin(), specials.end());
    for (auto& [word, count] : counts.by_frequency()) {
      const bool full = limits.words > 0 && static_cast<Index>(words.size()) >= limits.words + special_tokens;
      if (count < limits.seen_at_least || full) break;
      if (std::find(specials.begin(), specials.end(), word) == specials.end()) words.push_back(word);
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
