#pragma once
#include <filesystem>

#include "attn/align/replace_unknown.hpp"
#include "attn/align/word_aligner.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/text/plain_words.hpp"

namespace attn::translate_tool {

/// Replaces each <unk> in a translation by the translation of the source word with the most attention, or by that word
/// itself if there are no tables. For models with word-level target vocabularies.
class UnknownWords {
 public:
  /// `tables`: a folder created by `align SOURCE TARGET --save`. Empty: copy the source words.
  UnknownWords(const FolderTranslator& translator, const std::filesystem::path& tables) : translator_(translator) {
    const AnyTokenizer& target = translator.config().target;
    require(target.get<WordVocabulary>() != nullptr || target.get<PlainTokenizer>() != nullptr,
            "--replace-unknown requires a model with a vocabulary of words, such as those of europarl_train; this model "
            "writes subwords and no <unk>");
    unknown_ = target.name(target.unknown());
    if (tables.empty()) return;
    aligner_ = WordAligner::load(tables);
    translate_.emplace(aligner_->forward_table(), aligner_->source(), aligner_->target());
  }
  UnknownWords(const UnknownWords&) = delete;  // translate_ refers to aligner_

  /// Replaces the unknown words in all hypotheses of a line.
  void operator()(const std::string& line, Translation& translation) const {
    for (TranslatedHypothesis& hypothesis : translation.n_best) replace(line, translation.source, hypothesis);
    if (!translation.n_best.empty()) translation.text = translation.n_best[0].text;
  }

 private:
  static std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for_each_spaced_word(text, [&](std::string_view word) { words.emplace_back(word); });
    return words;
  }

  /// Splits a line into the words that the source tokens stand for.
  std::vector<std::string> source_words(const std::string& line) const {
    const std::string valid = utf8::repair(line);
    const auto* plain = translator_.config().source.get<PlainTokenizer>();
    return words_of(plain == nullptr ? valid : plain_words(valid, plain->language()));
  }

  void replace(const std::string& line, const std::vector<Token>& source, TranslatedHypothesis& hypothesis) const {
    const std::vector<std::string> words = words_of(hypothesis.text);
    if (std::ranges::find(words, unknown_) == words.end()) return;
    const auto links = translator_.alignment(source, hypothesis.tokens);
    hypothesis.text.clear();
    for (const std::string& word :
         attn::replace_unknown(words, unknown_, links, source_words(line),
                               [&](const std::string& one) { return translate_ ? (*translate_)(one) : one; }))
      hypothesis.text.append(hypothesis.text.empty() ? "" : " ").append(word);
  }

  const FolderTranslator& translator_;
  std::string unknown_;
  std::optional<WordAligner> aligner_;
  std::optional<WordTranslation> translate_;
};

}  // namespace attn::translate_tool
