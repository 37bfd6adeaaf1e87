#pragma once
#include "attn/align/lexical_table.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace statistical {

using namespace attn;

/// A target word that may stand for a source word, with log t(source word | target word).
struct WordOption {
  Token word;
  double log_channel;
};

/// The channel of the noisy-channel model: IBM model 1 from the target language to the source language, with the target
/// words that the decoder tries for each source word.
class WordChannel {
 public:
  /// `table` holds t(source | target), so its rows are target words. `frequency` holds P(target word). Each source word
  /// keeps the `count` options with the highest t(source | target) P(target).
  WordChannel(LexicalTable table, std::vector<double> frequency, Index source_words, Index count)
      : table_(std::move(table)), frequency_(std::move(frequency)), options_(static_cast<std::size_t>(source_words)) {
    for (Token word = WordVocabulary::special_tokens; word < table_.source_words(); ++word) {
      const LexicalTable::Row row = table_[word];
      for (std::size_t i = 0; i < row.targets.size(); ++i)
        if (row.targets[i] >= WordVocabulary::special_tokens && row.probabilities[i] > 0)
          options_.at(static_cast<std::size_t>(row.targets[i]))
              .push_back({word, std::log(static_cast<double>(row.probabilities[i]))});
    }
    for (auto& options : options_) {
      const auto worse = [&](const WordOption& option) { return -option.log_channel - log_frequency(option.word); };
      std::ranges::stable_sort(options, {}, worse);
      options.resize(std::min(options.size(), static_cast<std::size_t>(count)));
    }
  }

  /// The options of a source word, the most probable first. A word without options is copied.
  std::span<const WordOption> options(Token source) const {
    if (source < 0 || source >= std::ssize(options_)) return {};
    return options_[static_cast<std::size_t>(source)];
  }

  /// log t(source | target); -infinity if the words never met.
  double log_channel(Token source, Token target) const {
    return std::log(static_cast<double>(table_.probability(target, source)));
  }

  /// log t(source | empty word): the source word has no counterpart.
  double log_empty(Token source) const { return log_channel(source, table_.empty_word()); }

  double log_frequency(Token target) const { return std::log(frequency_[static_cast<std::size_t>(target)]); }

 private:
  LexicalTable table_;
  std::vector<double> frequency_;
  std::vector<std::vector<WordOption>> options_;
};

/// P(word) in a text, for every word of a vocabulary. Words that do not occur count half.
inline std::vector<double> word_frequencies(const Sentences& text, Index vocabulary) {
  std::vector<double> counts(static_cast<std::size_t>(vocabulary), 0.5);
  for (const Token token : text.tokens) ++counts.at(static_cast<std::size_t>(token));
  double all = 0;
  for (const double count : counts) all += count;
  for (double& count : counts) count /= all;
  return counts;
}

}  // namespace statistical
