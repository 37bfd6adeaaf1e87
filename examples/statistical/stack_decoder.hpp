#pragma once
#include <map>
#include <set>
#include <tuple>

#include "statistical/word_channel.hpp"

namespace statistical {

/// For each history, log P(word | history) of every target word. A history is the target words so far, without the begin
/// token.
using NextWords = std::function<std::vector<std::vector<double>>(const std::vector<std::vector<Token>>& histories)>;

/// Weights and limits of the search. Weights of 1, 0 and 0 are the plain noisy channel.
struct StackOptions {
  double language_weight = 1;    // of log P(y)
  double word_reward = 0;        // added for each target word
  double distortion_weight = 0;  // subtracted for each source word that a step jumps over, forwards or backwards
  Index distortion_limit = 3;    // furthest distance of the next source word from the first uncovered one; 0: monotone
  std::size_t stack_size = 20;   // hypotheses that each stack keeps
  double threshold = std::numeric_limits<double>::infinity();  // largest distance of a kept score from the stack's best
};

/// A translation: target words, and the source position each of them was written for.
struct StackTranslation {
  std::vector<Token> words;
  std::vector<Index> sources;
  double score = 0;
};

/// Finds argmax P(x, a | y) P(y) over target sentences y and alignments a, left to right (Brown et al. 1993, Germann et al.
/// 2001):
///
///     P(x, a | y) = (l + 1)^-m  prod_j  t(x_j | y_a(j))
///
/// A step covers one source word x_j. It writes one of the word's options, or attributes x_j to the newest target word,
/// or to the empty word. Stack n holds the hypotheses that cover n source words, compared by their score plus an estimate
/// of what the uncovered words will cost. Hypotheses with the same coverage, words and position are recombined. Target
/// words that generate no source word are not inserted. A source word without options is copied as <unk>.
class StackDecoder {
 public:
  StackDecoder(const WordChannel& channel, NextWords next_words, Token unknown, Token end, StackOptions options)
      : channel_(channel), next_words_(std::move(next_words)), unknown_(unknown), end_(end), options_(options) {}

  StackTranslation operator()(std::span<const Token> source) const {
    const auto length = source.size();
    std::vector<double> future;
    for (const Token word : source) future.push_back(future_score(word));
    Hypothesis first;
    first.covered.assign(length, false);
    for (const double score : future) first.estimate += score;
    std::vector<std::vector<Hypothesis>> stacks(length + 1);
    stacks[0].push_back(std::move(first));
    for (std::size_t n = 0; n <= length; ++n) {
      prune(stacks[n]);
      add_next_words(stacks[n]);
      if (n == length) break;
      for (const Hypothesis& hypothesis : stacks[n]) expand(hypothesis, source, future, stacks[n + 1]);
      stacks[n].clear();
    }
    const auto complete = [&](const Hypothesis& h) { return h.score + options_.language_weight * log_next(h, end_); };
    const Hypothesis& best = *std::ranges::max_element(stacks[length], {}, complete);
    return {best.words, best.sources, complete(best)};
  }

 private:
  struct Hypothesis {
    std::vector<bool> covered;
    std::vector<Token> words;
    std::vector<Index> sources;
    Index last = -1;                                       // source position that was covered last
    double score = 0, estimate = 0;                        // so far, and of the uncovered words
    std::shared_ptr<const std::vector<double>> next = {};  // log P(word | words); null where not computed yet

    double rank() const { return score + estimate; }
    auto key() const { return std::tie(covered, words, last); }
  };

  static double log_next(const Hypothesis& h, Token word) { return (*h.next)[static_cast<std::size_t>(word)]; }

  /// The highest score that a source word can add, with the language model's part estimated by the word's frequency.
  double future_score(Token source) const {
    const auto options = channel_.options(source);
    if (options.empty()) return written(channel_.log_frequency(unknown_));
    double best = channel_.log_empty(source);
    for (const auto& [word, log_channel] : options)
      best = std::max(best, log_channel + written(channel_.log_frequency(word)));
    return best;
  }

  double written(double log_language) const { return options_.language_weight * log_language + options_.word_reward; }

  void expand(const Hypothesis& from, std::span<const Token> source, const std::vector<double>& future,
              std::vector<Hypothesis>& stack) const {
    const Index length = std::ssize(source);
    const Index first = std::ranges::find(from.covered, false) - from.covered.begin();
    for (Index j = first; j < length && j - first <= options_.distortion_limit; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (from.covered[at]) continue;
      Hypothesis next = from;
      next.covered[at] = true;
      next.last = j;
      next.estimate -= future[at];
      next.score -= options_.distortion_weight * static_cast<double>(std::abs(j - from.last - 1));
      const auto add_with = [&](double log_channel) {
        if (std::isinf(log_channel)) return;
        stack.push_back(next);
        stack.back().score += log_channel;
      };
      const auto options = channel_.options(source[at]);
      if (!options.empty()) {
        add_with(channel_.log_empty(source[at]));
        if (!from.words.empty() && from.words.back() != unknown_)
          add_with(channel_.log_channel(source[at], from.words.back()));
      }
      // (l + 1)^-m with one more target word.
      const double words = static_cast<double>(from.words.size());
      next.score -= static_cast<double>(length) * std::log((words + 2) / (words + 1));
      next.next = nullptr;
      next.words.push_back(unknown_);
      next.sources.push_back(j);
      const auto write = [&](Token word, double log_channel) {
        next.words.back() = word;
        add_with(log_channel + written(log_next(from, word)));
      };
      if (options.empty()) write(unknown_, 0);
      for (const auto& [word, log_channel] : options) write(word, log_channel);
    }
  }

  /// Keeps the best hypotheses of a stack, each key once.
  void prune(std::vector<Hypothesis>& stack) const {
    std::ranges::stable_sort(stack, std::ranges::greater{}, &Hypothesis::rank);
    std::vector<Hypothesis> kept;
    std::set<std::tuple<std::vector<bool>, std::vector<Token>, Index>> keys;
    for (Hypothesis& hypothesis : stack) {
      if (kept.size() >= options_.stack_size || (!kept.empty() && hypothesis.rank() < kept[0].rank() - options_.threshold))
        break;
      if (keys.insert(hypothesis.key()).second) kept.push_back(std::move(hypothesis));
    }
    stack = std::move(kept);
  }

  /// Asks the language model about all histories that are new, each once.
  void add_next_words(std::vector<Hypothesis>& stack) const {
    std::map<std::vector<Token>, std::shared_ptr<const std::vector<double>>> known;
    std::vector<std::vector<Token>> histories;
    for (const Hypothesis& h : stack)
      if (!h.next && known.emplace(h.words, nullptr).second) histories.push_back(h.words);
    if (histories.empty()) return;
    std::vector<std::vector<double>> answers = next_words_(histories);
    for (std::size_t i = 0; i < histories.size(); ++i)
      known[histories[i]] = std::make_shared<const std::vector<double>>(std::move(answers[i]));
    for (Hypothesis& h : stack)
      if (!h.next) h.next = known[h.words];
  }

  const WordChannel& channel_;
  NextWords next_words_;
  Token unknown_, end_;
  StackOptions options_;
};

}  // namespace statistical
