#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "attn/align/lexical_table.hpp"
#include "attn/align/occurrences.hpp"
#include "attn/core/sentences.hpp"

namespace attn {

struct IbmModel1Options {
  Index iterations = 5;
  bool empty_word = true;  // targets may come from none of the source's words
  double prune_below = 0;  // of the table that is given back: pairs of a smaller probability are left out
  int threads = 0;         // 0: all cores; results do not depend on it
  std::function<void(Index iteration, double log_likelihood)> report{};  // after each iteration, if there is one
};

/// A trained table, and the text's log-likelihood by the table before each iteration, which never falls.
struct IbmModel1 {
  LexicalTable table;
  std::vector<double> log_likelihoods;
};

namespace detail {

/// IBM model 1 (Brown et al. 1993): each target word comes from one word of the source sentence, or from the empty word,
/// all of them as likely beforehand:
///
///     P(f | e) = (l + 1)^-m  prod_j  sum_i  t(f_j | e_i)
///
/// Expectation-maximisation: a target word's occurrence is shared among the sentence's source words in proportion to t, and
/// t becomes proportional to what each pair of words was given. A pass over the target's words computes the sums over i,
/// one over the source's words the new t. Each word belongs to one thread, which visits its occurrences in the order of the
/// text: nothing depends on the number of threads. A word's probabilities are spread out in an array by id, so nothing is
/// searched.
class Model1Training {
 public:
  Model1Training(const Sentences& source, const Sentences& target, const IbmModel1Options& options)
      : source_(source),
        target_(target),
        empty_word_(options.empty_word),
        threads_(options.threads > 0 ? options.threads
                                     : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
        source_places_(source),
        target_places_(target),
        shares_(target.tokens.size()) {
    find_pairs();
    find_columns();
    const double uniform = 1 / std::max<double>(1, static_cast<double>(target_places_.words()));
    values_.assign(targets_.size(), uniform);
  }

  /// One iteration; the log-likelihood before it.
  double iterate() {
    const double before = share_targets();
    maximise();
    return before;
  }

  LexicalTable table() const { return {offsets_, targets_, std::vector<float>(values_.begin(), values_.end())}; }

 private:
  Index rows() const { return source_places_.words() + 1; }  // the last is the empty word's

  /// Calls visit(sentence) for each occurrence of a source word.
  template <class Visit>
  void for_each_sentence(Index row, Visit&& visit) const {
    if (row < source_places_.words())
      for (const auto& place : source_places_[row]) visit(Index{place.sentence});
    else if (empty_word_)
      for (Index sentence = 0; sentence < target_.size(); ++sentence) visit(sentence);
  }

  /// Which targets each source word meets, by rising id.
  void find_pairs() {
    std::vector<std::vector<Token>> met(static_cast<std::size_t>(rows()));
#pragma omp parallel num_threads(threads_)
    {
      std::vector<Index> seen_by(static_cast<std::size_t>(target_places_.words()), -1);
#pragma omp for schedule(dynamic, 16)
      for (Index from_last = 0; from_last < rows(); ++from_last) {
        const Index row = rows() - 1 - from_last;  // the empty word's, which is the longest, first
        auto& targets = met[static_cast<std::size_t>(row)];
        for_each_sentence(row, [&](Index sentence) {
          for (const Token word : target_[sentence])
            if (std::exchange(seen_by[static_cast<std::size_t>(word)], row) != row) targets.push_back(word);
        });
        std::ranges::sort(targets);
      }
    }
    offsets_.assign(1, 0);
    for (const auto& targets : met) offsets_.push_back(offsets_.back() + std::ssize(targets));
    require(offsets_.back() < Index{1} << 32, "train_ibm_model1: the text has ", offsets_.back(),
            " different pairs of words, more than 4,294,967,295; train on fewer sentences");
    targets_.reserve(static_cast<std::size_t>(offsets_.back()));
    for (auto& targets : met) {
      targets_.insert(targets_.end(), targets.begin(), targets.end());
      std::vector<Token>().swap(targets);
    }
  }

  /// The same pairs by target word: which rows, and where in them.
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

  /// shares_ of each target token becomes 1 / sum_i t(f_j | e_i), 0 where there is nothing that it could come from.
  double share_targets() {
#pragma omp parallel num_threads(threads_)
    {
      std::vector<double> value_of(static_cast<std::size_t>(rows()), 0.0);
#pragma omp for schedule(dynamic, 16)
      for (Index word = 0; word < target_places_.words(); ++word) {
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
      }
    }
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
#pragma omp parallel num_threads(threads_)
    {
      std::vector<double> given(static_cast<std::size_t>(target_places_.words()), 0.0);
#pragma omp for schedule(dynamic, 16)
      for (Index from_last = 0; from_last < rows(); ++from_last) {
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
      }
    }
  }

  const Sentences &source_, &target_;
  bool empty_word_;
  int threads_;
  Occurrences source_places_, target_places_;
  std::vector<double> shares_;
  std::vector<Index> offsets_;
  std::vector<Token> targets_;
  std::vector<double> values_;
  std::vector<Index> column_offsets_;
  struct RowEntry {
    std::uint32_t row, at;  // 32 bits each: there are as many of these as pairs of words
  };
  std::vector<RowEntry> columns_;
};

}  // namespace detail

/// Learns t(target word | source word) from sentence pairs; words are ids of any vocabularies. Sentences may be empty.
inline IbmModel1 train_ibm_model1(const Sentences& source, const Sentences& target, const IbmModel1Options& options = {}) {
  require(source.size() == target.size(), "train_ibm_model1: ", source.size(), " source sentences do not pair with ",
          target.size(), " target sentences");
  require(!source.tokens.empty() && !target.tokens.empty(),
          "train_ibm_model1: there is nothing to learn from a text without words");
  require(options.iterations > 0, "train_ibm_model1: ", options.iterations, " iterations learn nothing; 5 are usual");
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
