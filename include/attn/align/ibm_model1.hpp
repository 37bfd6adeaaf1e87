#pragma once
#include <numeric>

#include "attn/align/lexical_table.hpp"
#include "attn/core/sentences.hpp"
#include "attn/core/thread_pool.hpp"

namespace attn {

struct IbmModel1Options {
  Index iterations = 5;
  bool empty_word = true;  // adds an empty source word, for target words without a counterpart
  double prune_below = 0;  // drops pairs of lower probability from the returned table
  int threads = 0;         // 0: all cores; does not affect results
  std::function<void(Index iteration, double log_likelihood)> report{};  // called after each iteration if set
};

/// A trained table, and the log-likelihood of the text before each iteration, which never decreases.
struct IbmModel1 {
  LexicalTable table;
  std::vector<double> log_likelihoods;
};

namespace detail {

/// The entries of compressed rows, grouped by column and in row order: a transpose.
class Columns {
 public:
  struct Entry {
    std::uint32_t row, at;  // 32 bits each, because there are many; at: index of the entry in the rows
  };

  Columns() = default;
  /// Row r has the columns[offsets[r]] to columns[offsets[r + 1] - 1], which are below `count`.
  Columns(const auto& offsets, const std::vector<Token>& columns, Index count)
      : offsets_(static_cast<std::size_t>(count) + 1), entries_(columns.size()) {
    for (const Token column : columns) ++offsets_[static_cast<std::size_t>(column) + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    std::vector<Index> next(offsets_);
    for (std::size_t row = 0, at = 0; row + 1 < offsets.size(); ++row)
      for (; at < static_cast<std::size_t>(offsets[row + 1]); ++at) {
        Index& place = next[static_cast<std::size_t>(columns[at])];
        entries_[static_cast<std::size_t>(place++)] = {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(at)};
      }
  }

  Index size() const { return std::ssize(offsets_) - 1; }
  std::span<const Entry> operator[](Index column) const {
    const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(column)]);
    const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(column) + 1]);
    return std::span(entries_).subspan(begin, end - begin);
  }

 private:
  std::vector<Index> offsets_;
  std::vector<Entry> entries_;
};

/// All occurrences of each word of a text, in text order: a row is a sentence.
inline Columns occurrences(const Sentences& text) {
  Token highest = -1;
  for (const Token word : text.tokens) {
    require(word >= 0, "alignment: the word id ", word, " is negative");
    highest = std::max(highest, word);
  }
  return {text.offsets, text.tokens, Index{highest} + 1};
}

/// IBM model 1 (Brown et al. 1993): each target word comes from one source word of the sentence or from the empty word, all
/// equally likely a priori:
///
///     P(f | e) = (l + 1)^-m  prod_j  sum_i  t(f_j | e_i)
///
/// Trained by expectation-maximisation. The E-step divides each target word's occurrence among the source words in
/// proportion to t; the M-step normalises these expected counts to the new t. One pass over target words computes the sums
/// over i, one over source words the new t. Each word belongs to one thread, which visits its occurrences in text order, so
/// results do not depend on the number of threads. Each thread scatters a word's probabilities into an array indexed by id,
/// which avoids searching.
class Model1Training {
 public:
  Model1Training(const Sentences& source, const Sentences& target, const IbmModel1Options& options)
      : source_(source),
        target_(target),
        empty_word_(options.empty_word),
        pool_(static_cast<int>(options.threads > 0 ? options.threads : all_threads())) {
    find_pairs();
    columns_ = Columns(offsets_, targets_, target_places_.size());
    values_.assign(targets_.size(), 1 / std::max<double>(1, static_cast<double>(target_places_.size())));
  }

  /// Runs one iteration and returns the log-likelihood before it.
  double iterate() {
    const double before = share_targets();
    maximise();
    return before;
  }

  LexicalTable table() const { return {offsets_, targets_, std::vector<float>(values_.begin(), values_.end())}; }

 private:
  Index rows() const { return source_places_.size() + 1; }  // the last row is the empty word

  /// Calls visit(word, scratch) for each word on all threads. Each thread has its own scratch of `size` values, initially
  /// `initial`.
  template <class Value, class Visit>
  void for_each_word(Index words, Index size, Value initial, const Visit& visit) {
    constexpr Index kTogether = 16;
    std::vector<std::vector<Value>> scratch(static_cast<std::size_t>(pool_.threads()));
    pool_.run((words + kTogether - 1) / kTogether, [&](Index block, int thread) {
      std::vector<Value>& own = scratch[static_cast<std::size_t>(thread)];
      if (own.empty()) own.assign(static_cast<std::size_t>(size), initial);
      for (Index word = block * kTogether; word < std::min(words, (block + 1) * kTogether); ++word) visit(word, own);
    });
  }

  /// Calls visit(sentence) for each occurrence of a source word.
  void for_each_sentence(Index row, auto&& visit) const {
    if (row < source_places_.size())
      for (const auto& place : source_places_[row]) visit(Index{place.row});
    else if (empty_word_)
      for (Index sentence = 0; sentence < target_.size(); ++sentence) visit(sentence);
  }

  /// Finds the targets that co-occur with each source word, sorted by id.
  void find_pairs() {
    std::vector<std::vector<Token>> met(static_cast<std::size_t>(rows()));
    for_each_word(rows(), target_places_.size(), Index{-1}, [&](Index from_last, std::vector<Index>& seen_by) {
      const Index row = rows() - 1 - from_last;  // starts with the empty word, the longest row
      auto& targets = met[static_cast<std::size_t>(row)];
      for_each_sentence(row, [&](Index sentence) {
        for (const Token word : target_[sentence])
          if (std::exchange(seen_by[static_cast<std::size_t>(word)], row) != row) targets.push_back(word);
      });
      std::ranges::sort(targets);
    });
    offsets_.assign(1, 0);
    for (const auto& targets : met) offsets_.push_back(offsets_.back() + std::ssize(targets));
    require(offsets_.back() < Index{1} << 32, "train_ibm_model1: the text has ", offsets_.back(),
            " different pairs of words, more than 4,294,967,295. Train on fewer sentences.");
    targets_.reserve(static_cast<std::size_t>(offsets_.back()));
    for (auto& targets : met) {
      targets_.insert(targets_.end(), targets.begin(), targets.end());
      std::vector<Token>().swap(targets);
    }
  }

  /// Sets shares_ of each target token to 1 / sum_i t(f_j | e_i), or to 0 if it has no possible source. Returns the
  /// log-likelihood.
  double share_targets() {
    for_each_word(target_places_.size(), rows(), 0.0, [&](Index word, std::vector<double>& value_of) {
      for (const auto& [row, at] : columns_[word]) value_of[row] = values_[at];
      const double none = empty_word_ && !columns_[word].empty() ? value_of[static_cast<std::size_t>(rows()) - 1] : 0;
      for (const auto& place : target_places_[word]) {
        double sum = none;
        for (const Token from : source_[place.row]) sum += value_of[static_cast<std::size_t>(from)];
        shares_[place.at] = sum > 0 ? 1 / sum : 0;
      }
    });
    double log_likelihood = 0;
    std::size_t j = 0;
    for (Index sentence = 0; sentence < target_.size(); ++sentence) {
      const double choices = static_cast<double>(source_.length(sentence)) + (empty_word_ ? 1 : 0);
      for (; j < static_cast<std::size_t>(target_.offsets[static_cast<std::size_t>(sentence) + 1]); ++j)
        if (shares_[j] > 0) log_likelihood -= std::log(shares_[j] * choices);
    }
    return log_likelihood;
  }

  void maximise() {
    for_each_word(rows(), target_places_.size(), 0.0, [&](Index from_last, std::vector<double>& given) {
      const Index row = rows() - 1 - from_last;
      for_each_sentence(row, [&](Index sentence) {
        const auto words = target_[sentence];
        const double* const shares = shares_.data() + target_.offsets[static_cast<std::size_t>(sentence)];
        for (std::size_t j = 0; j < words.size(); ++j) given[static_cast<std::size_t>(words[j])] += shares[j];
      });
      const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row)]);
      const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row) + 1]);
      double total = 0;
      for (std::size_t at = begin; at < end; ++at)
        total += values_[at] *= std::exchange(given[static_cast<std::size_t>(targets_[at])], 0.0);
      if (total > 0)
        for (std::size_t at = begin; at < end; ++at) values_[at] = std::min(1.0, values_[at] / total);
    });
  }

  const Sentences &source_, &target_;
  bool empty_word_;
  ThreadPool pool_;
  Columns source_places_ = occurrences(source_), target_places_ = occurrences(target_);
  std::vector<double> shares_ = std::vector<double>(target_.tokens.size());
  std::vector<Index> offsets_;
  std::vector<Token> targets_;
  std::vector<double> values_;
  Columns columns_;  // of the table: rows are source words, columns target words
};

}  // namespace detail

/// Learns t(target word | source word) from sentence pairs. Words are ids of any vocabulary. Sentences may be empty.
inline IbmModel1 train_ibm_model1(const Sentences& source, const Sentences& target, const IbmModel1Options& options = {}) {
  require(source.size() == target.size(), "train_ibm_model1: ", source.size(), " source sentences, but ", target.size(),
          " target sentences. Pass one target per source.");
  require(!source.tokens.empty() && !target.tokens.empty(),
          "train_ibm_model1: the text has no words. Pass at least one pair of sentences.");
  require(options.iterations > 0, "train_ibm_model1: iterations is ", options.iterations,
          ", but must be at least 1. 5 is usual.");
  detail::Model1Training training(source, target, options);
  IbmModel1 model;
  for (Index i = 0; i < options.iterations; ++i) {
    model.log_likelihoods.push_back(training.iterate());
    if (options.report) options.report(i + 1, model.log_likelihoods.back());
  }
  model.table = training.table();
  if (options.prune_below > 0) model.table = model.table.pruned(options.prune_below);
  return model;
}

}  // namespace attn
