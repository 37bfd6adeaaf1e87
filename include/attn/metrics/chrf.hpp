#pragma once
#include "attn/metrics/sentence_counts.hpp"

namespace attn {

/// The word n-grams that chrF counts besides character n-grams of order 1 to 6: none, or orders 1 and 2 (chrF++).
enum class ChrfWords { none, pairs };

/// The counts that chrF sums over sentences, for each order: n-grams of the hypothesis, of the reference, and shared ones.
/// Character orders come first, then word orders. Resampling uses a Real other than Index (metrics/bootstrap.hpp).
template <class Real>
using ChrfSums = std::array<std::array<Real, 3>, 8>;
using ChrfCounts = ChrfSums<Index>;

/// Corpus chrF (Popović 2015) or chrF++ (2017) with the defaults of sacreBLEU 2.6: n-gram precision and recall, each
/// averaged over the orders that both sides have, with recall weighted twice.
struct Chrf {
  double score = 0;  // 0 to 100
  ChrfWords words = ChrfWords::none;
  Index references = 1;  // per sentence

  std::string name() const { return words == ChrfWords::none ? "chrF2" : "chrF2++"; }

  /// One line, in the format of sacreBLEU.
  std::string to_string() const { return name() + " = " + detail::formatted("%.2f", score); }

  /// The sacreBLEU signature with attn's version (see Bleu::signature).
  std::string signature() const { return detail::signature(references, signature_fields()); }
  const char* signature_fields() const {
    return words == ChrfWords::none ? "case:mixed|eff:yes|nc:6|nw:0|space:no" : "case:mixed|eff:yes|nc:6|nw:2|space:no";
  }
};

namespace detail {

/// The characters of a text without white space. Each invalid UTF-8 byte becomes a lone surrogate, which is no character.
inline std::u32string characters(std::string_view text) {
  std::u32string result;
  for (const utf8::Character& character : utf8::Characters(text))
    if (!character.valid)
      for (const char byte : character.bytes) result += static_cast<char32_t>(0xDC00 + static_cast<unsigned char>(byte));
    else if (!is_python_space(character.code))
      result += character.code;
  return result;
}

/// The words of chrF++: splits at white space, then splits off one ASCII punctuation mark at the end, else at the start.
inline std::vector<std::u32string> chrf_words(std::string_view text) {
  constexpr std::u32string_view marks = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  const auto is_mark = [&](char32_t c) { return marks.find(c) != marks.npos; };
  std::vector<std::u32string> words;
  for (const std::string& word : split_words(text)) {
    const std::u32string letters = characters(word);
    const std::size_t last = letters.size() - 1;
    // Start of the second word, or the end.
    const std::size_t cut = last == 0 ? 1 : is_mark(letters[last]) ? last : is_mark(letters[0]) ? 1 : letters.size();
    words.push_back(letters.substr(0, cut));
    if (cut < letters.size()) words.push_back(letters.substr(cut));
  }
  return words;
}

/// Counts of one order. If the reference has no n-gram of this order, the hypothesis counts 0.
template <class T>
std::array<Index, 3> chrf_order(std::span<const T> hypothesis, std::span<const T> reference, std::size_t n) {
  const auto produced = sorted_ngrams(hypothesis, n), wanted = sorted_ngrams(reference, n);
  return {wanted.empty() ? 0 : std::ssize(produced), std::ssize(wanted), shared_ngrams(produced, wanted)};
}

}  // namespace detail

/// chrF from summed counts, 0 to 100. Computed in Count, or in double for integer counts.
template <class Count>
auto chrf_of_counts(const ChrfSums<Count>& sums) {
  using Real = std::conditional_t<std::is_integral_v<Count>, double, Count>;
  Real precision = 0, recall = 0, orders = 0;
  for (const auto& [hypothesis, reference, shared] : sums) {
    if (hypothesis == 0 || reference == 0) continue;
    precision += static_cast<Real>(shared) / static_cast<Real>(hypothesis);
    recall += static_cast<Real>(shared) / static_cast<Real>(reference);
    orders += 1;
  }
  if (precision + recall == 0) return Real{0};
  precision /= orders, recall /= orders;
  return 100 * (5 * precision * recall / (4 * precision + recall));
}

/// Counts of a sentence against its best-scoring reference; ties take the first.
inline ChrfCounts chrf_counts(const std::string& hypothesis, std::span<const std::string> references, ChrfWords words) {
  using namespace detail;
  const auto words_of = [&](const std::string& text) {
    return words == ChrfWords::none ? std::vector<std::u32string>{} : chrf_words(text);
  };
  const std::u32string letters = characters(hypothesis);
  const auto produced = words_of(hypothesis);
  ChrfCounts best{};
  double most = -1;
  for (const std::string& reference : references) {
    const std::u32string wanted_letters = characters(reference);
    const auto wanted = words_of(reference);
    ChrfCounts counts{};
    for (std::size_t n = 1; n <= 6; ++n) counts[n - 1] = chrf_order<char32_t>(letters, wanted_letters, n);
    for (std::size_t n = 1; n <= 2; ++n) counts[n + 5] = chrf_order<std::u32string>(produced, wanted, n);
    if (const double score = chrf_of_counts(counts); score > most) most = score, best = counts;
  }
  return best;
}

/// chrF of a corpus with several references per sentence. Each element of `references` has one sentence per hypothesis.
inline Chrf corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                        ChrfWords words = ChrfWords::none) {
  const auto counts = [words](const auto& hypothesis, auto& wanted) { return chrf_counts(hypothesis, wanted, words); };
  const auto sums = detail::sum_counts<ChrfSums>("corpus_chrf", hypotheses, references, counts);
  return {.score = chrf_of_counts(sums), .words = words, .references = std::ssize(references)};
}

/// chrF of a corpus with one reference per sentence.
inline Chrf corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::string> references,
                        ChrfWords words = ChrfWords::none) {
  return corpus_chrf(hypotheses, detail::one_text(references), words);
}

}  // namespace attn
