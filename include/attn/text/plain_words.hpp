#pragma once
#include "attn/text/treebank_line.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace attn {

namespace plain {

struct Contraction {
  std::string short_form, long_form;
};

/// The expansions in order. 've comes last: 'll and 'd can leave one (we'll've, we will've, we will have). Ambiguous forms
/// (he'd: he had, he would) follow Chittersu's preprocessing.
inline const std::vector<Contraction>& contractions() {
  struct Rule {
    std::string_view ending, becomes, stems;
  };
  static constexpr Rule rules[] = {
      {"n't", " not", "are could did does do had has have is may might must need ought should was were would"},
      {"'d", " had", "I he it she there they we you"},
      {"'d", " did", "how where"},
      {"'d", " would", "that"},
      {"'ll", " shall", "I he it she they what who you"},
      {"'ll", " will", "how we"},
      {"'s", " has", "he how it she that there what when where who why"},
      {"'re", " are", "they we what you"},
      {"'m", " am", "I"},
      {"'ve", " have", "I could might must should so they to we what when where who why will would you"}};
  static const std::vector<Contraction> list = [] {
    std::vector<Contraction> all{{"ain't", "am not"},      {"can't", "cannot"},        {"shan't", "shall not"},
                                 {"sha'n't", "shall not"}, {"won't", "will not"},      {"let's", "let us"},
                                 {"so's", "so as"},        {"'cause", "because"},      {"ma'am", "madam"},
                                 {"y'all", "you all"},     {"o'clock", "of the clock"}};
    for (const auto& [ending, becomes, stems] : rules)
      for_each_spaced_word(stems, [&, &ending = ending, &becomes = becomes](std::string_view stem) {
        all.push_back({std::string(stem).append(ending), std::string(stem).append(becomes)});
      });
    return all;
  }();
  return list;
}

/// Writes the plain words of a line in one pass. NLTK runs a dozen regular expressions and separates punctuation that is
/// removed later; this scanner implements only the effect on the result.
class PlainWordScanner {
 public:
  PlainWordScanner(std::string_view line, std::string& words) : line_(line), words_(words) {}

  void run() {
    while (here_ < line_.size()) step();
    end_word();
    if (!words_.empty()) words_.pop_back();  // the space after the last word
  }

 private:
  // Each handles the character at here_ and advances.
  void step() {
    const ByteRole role = line_.role_at(here_);
    if (role == ByteRole::joins) return letter();
    if (role == ByteRole::ends) return skip_break(1);
    if (role == ByteRole::vanishes) return skip(1);
    if (role == ByteRole::period) return period();
    if (role == ByteRole::comma) return line_.break_at(here_) ? skip_break(1) : skip(1);
    if (role == ByteRole::hyphen) return line_.break_at(here_) ? skip_break(2) : skip(1);
    if (role == ByteRole::backtick) return backticks();
    if (role == ByteRole::apostrophe) return apostrophe();
    if (role == ByteRole::wide) return wide();
    if (line_.after_opening(here_) || line_.starts_sentence(here_)) own_word("``");  // a quote
    skip_break(1);
  }
  void letter() {
    const char first = line_.at(here_), lower = ascii_lower(first);
    if (lower == 'n' && line_.negation_at(here_)) end_word();  // isn't: is n't
    const bool may_split = lower == 'c' || lower == 'd' || lower == 'g' || lower == 'l' || lower == 'w';
    if (may_split && !line_.word_character_before(here_) && two_words()) return;
    join(first);
    skip(1);
  }
  /// Words that the Treebank splits in two.
  bool two_words() {
    static constexpr std::array<std::string_view, 2> pairs[] = {{"can", "not"}, {"d", "'ye"},  {"gim", "me"}, {"gon", "na"},
                                                                {"got", "ta"},  {"lem", "me"}, {"wan", "na"}};
    for (const auto& [one, other] : pairs) {
      const std::size_t middle = here_ + one.size(), end = middle + other.size();
      if (!line_.letters_at(here_, one) || !line_.letters_at(middle, other) || line_.word_character_at(end)) continue;
      own_word(one);
      own_word(other.substr(other.starts_with('\'')));
      skip_break(end - here_);
      return true;
    }
    return false;
  }
  /// Three periods separate words. A single period does at the end of a sentence. This matters only before ' and *, because
  /// everything else that can follow a sentence ends a word itself.
  void period() {
    if (line_.from(here_).starts_with("..."))
      skip_break(3);
    else if (is_one_of(line_.at(here_ + 1), "'*") && !line_.before(here_).ends_with('.'))
      skip_break(1);
    else
      skip(1);
  }
  void backticks() {
    std::size_t count = 1;
    while (line_.at(here_ + count) == '`') ++count;
    for (std::size_t i = 1; i < count; i += 2) own_word("``");
    if (count % 2 == 1) own_word("`");
    skip_break(count);
  }
  void apostrophe() {
    if (line_.at(here_ + 1) == '\'') {  // two are a quotation mark
      if (here_ > 0 && line_.after_opening(here_)) own_word("``");
      return skip_break(2);
    }
    if (here_ == after_break_)
      for (const std::string_view word : {"'tis", "'twas"})
        if (line_.letters_at(here_, word) && !line_.word_character_at(here_ + word.size())) {
          own_word("t");
          own_word(word.substr(2));
          return skip_break(word.size());
        }
    if (line_.single_letter_at(here_ + 1)) return skip_break(1);
    if (line_.clitic_at(here_)) end_word();
    skip(1);
  }
  void wide() {
    const auto [code, length, valid] = line_.character_at(here_);
    if (is_typographic_quote(code)) {
      own_word(line_.from(here_).substr(0, length));
      skip_break(length);
    } else if (unicode::is_space(code)) {
      skip_break(length);
    } else {
      utf8::append(words_, unicode::to_lower(code));
      const bool raised = code == 0xB2 || code == 0xB3 || code == 0xB9;  // digits in Python and the paper too
      number_ = number_ && raised;
      skip(length);
    }
  }
  void skip(std::size_t bytes) { here_ += bytes; }
  void skip_break(std::size_t bytes) {
    end_word();
    here_ += bytes;
    after_break_ = here_;
  }

  void join(char letter) {
    words_ += ascii_lower(letter);
    number_ = number_ && letter >= '0' && letter <= '9';
  }
  void end_word() {
    if (words_.size() == word_) return;
    if (number_) words_.replace(word_, std::string::npos, "<num>");
    words_ += ' ';
    word_ = words_.size();
    number_ = true;
  }
  void own_word(std::string_view word) {
    end_word();
    words_ += word;
    number_ = false;
    end_word();
  }

  TreebankLine line_;
  std::string& words_;
  std::size_t here_ = 0, after_break_ = 0;
  std::size_t word_ = 0;  // start of the current word in words_
  bool number_ = true;    // the current word has only digits so far
};

}  // namespace plain

/// Expands English contractions: don't -> do not. Also matches inside words (she's contains he's). Case-sensitive, as in
/// Chittersu's preprocessing: I'm becomes I am, while Don't and It's stay.
inline void expand_contractions(std::string& line) {
  if (line.find('\'') == std::string::npos) return;
  for (const auto& [short_form, long_form] : plain::contractions())
    if (line.find(short_form) != std::string::npos) line = replaced(line, short_form, long_form);
}

enum class Language { english, german };

/// The words of a line in the preprocessing of Chittersu ("Attention Mechanisms in Neural Machine Translation"): expands
/// English contractions, splits by the Penn Treebank rules, lower-cases, removes punctuation and replaces numbers by <num>.
/// Separates words by spaces, for WordVocabulary:
///     plain_words("I don't owe 1,000 euros.", Language::english) == "i do not owe <num> euros"
/// Keeps opening quotation marks, as `` or in typographic form: they are words in the paper's vocabularies.
inline std::string plain_words(std::string_view line, Language language) {
  utf8::require_valid(line);
  std::string expanded, words;
  if (language == Language::english && line.find('\'') != line.npos) {
    expanded = line;
    expand_contractions(expanded);
    line = expanded;
  }
  words.reserve(line.size() + 8);
  plain::PlainWordScanner(line, words).run();
  return words;
}

/// Tokenizes ordinary text: converts it to plain words of a language and looks them up. Decodes to plain words.
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
