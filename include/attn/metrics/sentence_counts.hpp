#pragma once
#include <bit>
#include <iterator>

#include "attn/core/format_count.hpp"
#include "attn/text/word_split.hpp"
#include "attn/version.hpp"

// Shared by the metrics that sum counts over sentences.

namespace attn {

/// The counts of a text, one row per sentence, and their sums.
struct CountedText {
  std::vector<Index> rows, sums;

  Index width() const { return std::ssize(sums); }
  Index sentences() const { return std::ssize(rows) / width(); }
};

namespace detail {

/// White space in Python's str.split() and str.rstrip(): Unicode's, and the four ASCII separators.
constexpr bool is_python_space(char32_t code) { return unicode::is_space(code) || (code >= 0x1C && code <= 0x1F); }

/// The words between runs of white space, by default as in Python's str.split(). Invalid UTF-8 is not white space.
template <bool (*is_space)(char32_t) = is_python_space>
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for_each_spaced_word<is_space>(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

/// The sacreBLEU signature of a score. `more` goes between the number of references and the metric's fields.
inline std::string signature(Index references, const std::string& fields, const std::string& more = "") {
  return "nrefs:" + std::to_string(references) + more + "|" + fields + "|version:attn-" ATTN_VERSION;
}

/// Counts all hypotheses: counts(hypothesis, its references) is a list of Index, of the same size for each sentence. Each
/// element of `references` has one sentence per hypothesis. `who` prefixes error messages.
CountedText count_text(const char* who, std::span<const std::string> hypotheses,
                       std::span<const std::vector<std::string>> references, const auto& counts) {
  require(!references.empty(), who, ": no references. Pass at least one text.");
  for (const auto& text : references)
    require(hypotheses.size() == text.size(), who, ": ", hypotheses.size(), " hypotheses but ", text.size(),
            " references; give one reference for each hypothesis, in the same order");
  require(!hypotheses.empty(), who, ": no sentences to score. Pass at least one.");
  CountedText counted;
  std::vector<std::string> wanted(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) wanted[r] = references[r][i];
    const auto row = counts(hypotheses[i], wanted);
    counted.rows.insert(counted.rows.end(), row.begin(), row.end());
    counted.sums.resize(row.size());
    std::ranges::transform(counted.sums, row, counted.sums.begin(), std::plus<>());
  }
  return counted;
}

/// The numbers of a struct or array of `Real` alone, in order.
template <class Real, class Sums>
auto flat(const Sums& sums) {
  return std::bit_cast<std::array<Real, sizeof(Sums) / sizeof(Real)>>(sums);
}
/// The opposite of flat().
template <template <class> class Sums, class Real>
Sums<Real> sums_of(std::span<const Real> row) {
  auto values = flat<Real>(Sums<Real>{});
  std::ranges::copy(row, values.begin());
  return std::bit_cast<Sums<Real>>(values);
}

/// The sum of counts(hypothesis, its references) over all sentences.
template <template <class> class Sums>
Sums<Index> sum_counts(const char* who, std::span<const std::string> hypotheses,
                       std::span<const std::vector<std::string>> references, const auto& counts) {
  const auto row = [&](const std::string& hypothesis, const auto& wanted) {
    return flat<Index>(counts(hypothesis, wanted));
  };
  return sums_of<Sums, Index>(count_text(who, hypotheses, references, row).sums);
}

/// The texts of a single reference per sentence.
inline std::vector<std::vector<std::string>> one_text(std::span<const std::string> references) {
  return {{references.begin(), references.end()}};
}

/// Lexicographic order of n-grams of words or characters.
inline constexpr auto ngram_order = [](const auto& a, const auto& b) { return std::ranges::lexicographical_compare(a, b); };

/// The n-grams of a sentence as a sorted multiset.
template <class T>
std::vector<std::span<const T>> sorted_ngrams(std::span<const T> sentence, std::size_t n) {
  std::vector<std::span<const T>> ngrams;
  for (std::size_t i = 0; i + n <= sentence.size(); ++i) ngrams.push_back(sentence.subspan(i, n));
  std::ranges::sort(ngrams, ngram_order);
  return ngrams;
}

/// The size of the intersection of two multisets of n-grams.
template <class Ngrams>
Index shared_ngrams(const Ngrams& a, const Ngrams& b) {
  Ngrams shared;
  std::ranges::set_intersection(a, b, std::back_inserter(shared), ngram_order);
  return std::ssize(shared);
}

/// The union of two multisets: each n-gram with its higher count.
template <class Ngrams>
Ngrams either_ngrams(const Ngrams& a, const Ngrams& b) {
  Ngrams either;
  std::ranges::set_union(a, b, std::back_inserter(either), ngram_order);
  return either;
}

}  // namespace detail
}  // namespace attn
