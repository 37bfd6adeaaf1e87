#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "attn/align/ibm_model1.hpp"
#include "attn/core/random.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "papers/grammar_corpus.hpp"
#include "statistical/translate_words.hpp"

using namespace attn;
using namespace statistical;

namespace {

constexpr Token first_word = WordVocabulary::special_tokens, unknown = 0, end_token = 3;

/// t(source | target) of random numbers; half of the pairs never met. Words of both languages count from 4.
LexicalTable random_table(Random& random, Index source_words, Index target_words) {
  std::vector<Index> offsets{0};
  std::vector<Token> words;
  std::vector<float> probabilities;
  for (Index row = 0; row <= first_word + target_words; ++row) {  // the last is the empty word's
    const bool is_word = row >= first_word;
    for (Index s = 0; s < source_words && is_word; ++s)
      if (random.uniform() < 0.5) {
        words.push_back(static_cast<Token>(first_word + s));
        probabilities.push_back(static_cast<float>(random.uniform()) * 0.9F + 0.05F);
      }
    offsets.push_back(std::ssize(words));
  }
  return {offsets, words, probabilities};
}

/// A language model whose probabilities depend on the whole history.
std::vector<double> toy_language_model(const std::vector<Token>& history, Index vocabulary) {
  std::uint64_t seed = 17;
  for (const Token word : history) seed = seed * 31 + static_cast<std::uint64_t>(word) + 1;
  Random random(seed);
  std::vector<double> row;
  double sum = 0;
  for (Index w = 0; w < vocabulary; ++w) sum += row.emplace_back(random.uniform() + 0.01);
  for (double& p : row) p = std::log(p / sum);
  return row;
}

NextWords toy(Index vocabulary) {
  return [=](const std::vector<std::vector<Token>>& histories) {
    std::vector<std::vector<double>> rows;
    for (const auto& history : histories) rows.push_back(toy_language_model(history, vocabulary));
    return rows;
  };
}

/// Every target sentence of up to as many words as the source, with every alignment.
class ExhaustiveSearch {
 public:
  ExhaustiveSearch(const WordChannel& channel, std::span<const Token> source, Index vocabulary, const StackOptions& options)
      : channel_(channel), source_(source), vocabulary_(vocabulary), options_(options) {
    extend(0);
  }
  double best() const { return best_; }

 private:
  void extend(double language) {
    const auto row = toy_language_model(words_, vocabulary_);
    score_alignments(language + row[static_cast<std::size_t>(end_token)]);
    if (words_.size() == source_.size()) return;
    for (Token word = 0; word < vocabulary_; ++word) {
      if (word != unknown && word < first_word) continue;
      words_.push_back(word);
      extend(language + row[static_cast<std::size_t>(word)]);
      words_.pop_back();
    }
  }

  void score_alignments(double language) {
    const std::size_t choices = words_.size() + 1;
    std::vector<std::size_t> to(source_.size(), 0);  // 0: the empty word
    for (;;) {
      const double channel = score(to);
      const double length = static_cast<double>(words_.size());
      best_ = std::max(best_, channel - static_cast<double>(source_.size()) * std::log(length + 1) +
                                  options_.language_weight * language + options_.word_reward * length);
      std::size_t j = 0;
      while (j < to.size() && ++to[j] == choices) to[j++] = 0;
      if (j == to.size()) return;
    }
  }

  /// sum_j log t(x_j | y_a(j)), or -infinity where a target word was not written for any of its source words.
  double score(const std::vector<std::size_t>& to) const {
    constexpr double impossible = -std::numeric_limits<double>::infinity();
    double sum = 0;
    std::vector<bool> written(words_.size() + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto options = channel_.options(source_[j]);
      if (to[j] == 0) {
        if (options.empty()) return impossible;
        sum += channel_.log_empty(source_[j]);
        continue;
      }
      const Token word = words_[to[j] - 1];
      if (options.empty()) {  // is copied, alone
        if (word != unknown || written[to[j]]) return impossible;
        written[to[j]] = true;
        continue;
      }
      if (word == unknown) return impossible;
      sum += channel_.log_channel(source_[j], word);
      if (std::ranges::find(options, word, &WordOption::word) != options.end()) written[to[j]] = true;
    }
    for (std::size_t i = 1; i < written.size(); ++i)
      if (!written[i]) return impossible;
    return sum;
  }

  const WordChannel& channel_;
  std::span<const Token> source_;
  Index vocabulary_;
  StackOptions options_;
  std::vector<Token> words_;
  double best_ = -std::numeric_limits<double>::infinity();
};

std::vector<double> random_frequencies(Random& random, Index vocabulary) {
  std::vector<double> frequency;
  for (Index w = 0; w < vocabulary; ++w) frequency.push_back(0.05 + random.uniform());
  return frequency;
}

}  // namespace

TEST_CASE("statistical: the stack decoder without limits matches exhaustive search") {
  constexpr Index source_words = 5, target_words = 3, vocabulary = first_word + target_words;
  Random random(5);
  for (int problem = 0; problem < 40; ++problem) {
    LexicalTable table = random_table(random, source_words, target_words);
    std::vector<double> frequency = random_frequencies(random, vocabulary);
    const WordChannel channel(std::move(table), std::move(frequency), first_word + source_words, 1 + random.below(3));
    std::vector<Token> source;
    const Index length = 1 + random.below(4);
    for (Index j = 0; j < length; ++j) source.push_back(static_cast<Token>(first_word + random.below(source_words)));
    if (problem % 4 == 0) source[0] = unknown;
    StackOptions options{.language_weight = 0.5 + random.uniform(), .distortion_limit = 9, .stack_size = 1'000'000};
    options.word_reward = random.uniform() * 4 - 2;
    const StackTranslation found = StackDecoder(channel, toy(vocabulary), unknown, end_token, options)(source);
    CHECK(found.score == doctest::Approx(ExhaustiveSearch(channel, source, vocabulary, options).best()).epsilon(1e-9));
    CHECK(found.words.size() == found.sources.size());

    // Limits find something, and nothing better; a limit of 0 keeps the order of the source.
    options.stack_size = 2;
    options.distortion_limit = 1;
    CHECK(StackDecoder(channel, toy(vocabulary), unknown, end_token, options)(source).score <= found.score + 1e-9);
    options.distortion_limit = 0;
    const StackTranslation monotone = StackDecoder(channel, toy(vocabulary), unknown, end_token, options)(source);
    CHECK(std::ranges::is_sorted(monotone.sources));
    CHECK(monotone.score <= found.score + 1e-9);
  }
}

TEST_CASE("statistical: words without options are copied and empty sentences stay empty") {
  // 4 -> 4 alone; the source word 5 has no option.
  const LexicalTable table({0, 0, 0, 0, 0, 1, 1}, {4}, {1.0F});
  const WordChannel channel(table, std::vector<double>(5, 0.2), 6, 5);
  const WordVocabulary source({"<unk>", "<pad>", "<sos>", "<eos>", "ja", "nie"});
  const WordVocabulary target({"<unk>", "<pad>", "<sos>", "<eos>", "yes"});
  const StackDecoder decode(channel, toy(5), unknown, end_token, {.distortion_limit = 0});
  CHECK(translate_by_stacks(decode, source, target, "ja Elsterwerda ja nie") == "yes Elsterwerda yes nie");
  CHECK(translate_by_stacks(decode, source, target, "").empty());
}

TEST_CASE("statistical: word by word gives the most probable table entry on the bundled corpus") {
  ParallelText text = papers::generate_pairs(300, 1);
  std::swap(text.source, text.target);  // German to English
  const WordVocabulary source((WordCounts(text.source))), target((WordCounts(text.target)));
  const ParallelCorpus corpus = encode_corpus(text, source, target);
  const LexicalTable table = train_ibm_model1(corpus.source, corpus.target).table;
  const WordTranslation translate(table, source, target);
  for (std::size_t i = 0; i < text.source.size(); i += 30) {
    std::string expected;
    for (const std::string& word : spaced_words(text.source[i])) {
      Token best = first_word;
      for (Token candidate = first_word; candidate < target.size(); ++candidate)
        if (table.probability(source.id(word), candidate) > table.probability(source.id(word), best)) best = candidate;
      append_word(expected, target.name(best));
    }
    CHECK(translate_word_for_word(translate, text.source[i]) == expected);
  }
  CHECK(translate_word_for_word(translate, "Elsterwerda") == "Elsterwerda");
}
