#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "attn/align/lexical_table.hpp"
#include "attn/core/parallel_for.hpp"
#include "attn/core/sentences.hpp"

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

/// All occurrences of each word of a text, in text order.
struct Occurrences {
  struct Place {
    std::int32_t sentence, token;  // token: index in the whole text
  };

  std::vector<std::int32_t> offsets;  // word w has places offsets[w] to offsets[w + 1]
  std::vector<Place> places;

  explicit Occurrences(const Sentences& text) {
    Token highest = -1;
    for (const Token word : text.tokens) {
      require(word >= 0, "alignment: the word id ", word, " is negative");
      highest = std::max(highest, word);
    }
    offsets.assign(static_cast<std::size_t>(highest) + 2, 0);
    for (const Token word : text.tokens) ++offsets[static_cast<std::size_t>(word) + 1];
    for (std::size_t w = 1; w < offsets.size(); ++w) offsets[w] += offsets[w - 1];
    places.resize(text.tokens.size());
    std::vector<std::int32_t> next(offsets);
    for (std::int32_t sentence = 0; sentence < text.size(); ++sentence)
      for (std::int32_t at = text.offsets[static_cast<std::size_t>(sentence)];
           at < text.offsets[static_cast<std::size_t>(sentence) + 1]; ++at)
        places[static_cast<std::size_t>(next[static_cast<std::size_t>(text.tokens[static_cast<std::size_t>(at)])]++)] = {
            sentence, at};
  }

  Index words() const { return std::ssize(offsets) - 1; }
  std::span<const Place> operator[](Index word) const {
    const auto begin = static_cast<std::size_t>(offsets[static_cast<std::size_t>(word)]);
    return std::span(places).subspan(begin, static_cast<std::size_t>(offsets[static_cast<std::size_t>(word) + 1]) - begin);
  }
};

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
        pool_(static_cast<int>(options.threads > 0 ? options.threads : all_threads())),
        source_places_(source),
        target_places_(target),
        shares_(target.tokens.size()) {
    find_pairs();
    find_columns();
    const double uniform = 1 / std::max<double>(1, static_cast<double>(target_places_.words()));
    values_.assign(targets_.size(), uniform);
  }

  /// Runs one iteration and returns the log-likelihood before it.
  double iterate() {
    const double before = share_targets();
    maximise();
    return before;
  }

  LexicalTable table() const { return {offsets_, targets_, std::vector<float>(values_.begin(), values_.end())}; }

 private:
  Index rows() const { return source_places_.words() + 1; }  // the last row is the empty word

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
    if (row < source_places_.words())
      for (const auto& place : source_places_[row]) visit(Index{place.sentence});
    else if (empty_word_)
      for (Index sentence = 0; sentence < target_.size(); ++sentence) visit(sentence);
  }

  /// Finds the targets that co-occur with each source word, sorted by id.
  void find_pairs() {
    std::vector<std::vector<Token>> met(static_cast<std::size_t>(rows()));
    for_each_word(rows(), target_places_.words(), Index{-1}, [&](Index from_last, std::vector<Index>& seen_by) {
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

  /// Indexes the same pairs by target word: rows and positions in them.
  void find_columns() {
    column_offsets_.assign(static_cast<std::size_t>(target_places_.words()) + 1, 0);
    for (const Token word : targets_) ++column_offsets_[static_cast<std::size_t>(word) + 1];
    for (std::size_t w = 1; w < column_offsets_.size(); ++w) column_offsets_[w] += column_offsets_[w - 1];
    columns_.resize(targets_.size());
    std::vector<Index> next(column_offsets_);
    for (Index row = 0; row < rows(); ++row)
      for (Index at = offsets_[static_cast<std::size_t>(row)]; at < offsets_[static_cast<std::size_t>(row) + 1]; ++at)
        columns_[static_cast<std::size_t>(next[static_cast<std::size_t>(targets_[static_cast<std::size_t>(at)])]++)] = {
            static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(at)};
  }

  /// Sets shares_ of each target token to 1 / sum_i t(f_j | e_i), or to 0 if it has no possible source. Returns the
  /// log-likelihood.
  double share_targets() {
    for_each_word(target_places_.words(), rows(), 0.0, [&](Index word, std::vector<double>& value_of) {
      const auto begin = column_offsets_[static_cast<std::size_t>(word)];
      const auto end = column_offsets_[static_cast<std::size_t>(word) + 1];
      for (Index k = begin; k < end; ++k) {
        const auto [row, at] = columns_[static_cast<std::size_t>(k)];
        value_of[static_cast<std::size_t>(row)] = values_[static_cast<std::size_t>(at)];
      }
      const double none = empty_word_ && end > begin ? value_of[static_cast<std::size_t>(rows()) - 1] : 0;
      for (const auto& place : target_places_[word]) {
        double sum = none;
        for (const Token from : source_[place.sentence]) sum += value_of[static_cast<std::size_t>(from)];
        shares_[static_cast<std::size_t>(place.token)] = sum > 0 ? 1 / sum : 0;
      }
    });
    double log_likelihood = 0;
    for (Index sentence = 0; sentence < target_.size(); ++sentence) {
      const double choices = static_cast<double>(source_.length(sentence)) + (empty_word_ ? 1 : 0);
      for (Index j = target_.offsets[static_cast<std::size_t>(sentence)];
           j < target_.offsets[static_cast<std::size_t>(sentence) + 1]; ++j)
        if (const double share = shares_[static_cast<std::size_t>(j)]; share > 0)
          log_likelihood -= std::log(share * choices);
    }
    return log_likelihood;
  }

  void maximise() {
    for_each_word(rows(), target_places_.words(), 0.0, [&](Index from_last, std::vector<double>& given) {
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
  Occurrences source_places_, target_places_;
  std::vector<double> shares_;
  std::vector<Index> offsets_;
  std::vector<Token> targets_;
  std::vector<double> values_;
  std::vector<Index> column_offsets_;
  struct RowEntry {
    std::uint32_t row, at;  // 32 bits each: one entry per pair of words
  };
  std::vector<RowEntry> columns_;
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
