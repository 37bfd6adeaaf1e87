#pragma once
#include <cstdlib>

#include "attn/metrics/sentence_counts.hpp"

namespace attn {

/// The counts that BLEU sums over sentences: words, and n-grams for n = 1 to 4 at array index n - 1. Resampling uses a Real
/// other than Index (metrics/bootstrap.hpp).
template <class Real>
struct BleuSums {
  Real hypothesis_length = 0, reference_length = 0;
  std::array<Real, 4> matches{}, totals{};
};
using BleuCounts = BleuSums<Index>;

/// Corpus BLEU (Papineni et al., 2002) with the defaults of sacreBLEU 2.6: the geometric mean of the n-gram precisions for
/// n = 1 to 4, times the brevity penalty.
struct Bleu : BleuCounts {
  double score = 0;  // 0 to 100
  std::array<double, 4> precisions{};
  double brevity_penalty = 1;
  Index references = 1;  // per sentence

  /// One line, in the format of sacreBLEU.
  std::string to_string() const { return "BLEU = " + detail::formatted("%.2f", score) + " " + details(); }

  /// The part of sacreBLEU's line after the score.
  std::string details() const {
    const double ratio =
        reference_length ? static_cast<double>(hypothesis_length) / static_cast<double>(reference_length) : 0;
    return detail::formatted("%.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)", precisions[0],
                             precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
                             static_cast<long long>(hypothesis_length), static_cast<long long>(reference_length));
  }

  /// The sacreBLEU signature, to quote with the score. The version field has attn's version in place of sacreBLEU's.
  std::string signature() const { return detail::signature(references, signature_fields); }
  static constexpr const char* signature_fields = "case:mixed|eff:no|tok:13a|smooth:exp";
};

namespace detail {

/// The text without trailing white space, as in Python's str.rstrip().
inline std::string_view without_trailing_space(std::string_view text) {
  std::string_view last = text.substr(0, 0);
  for_each_spaced_word<is_python_space>(text, [&](std::string_view word) { last = word; });
  return text.substr(0, static_cast<std::size_t>(last.data() + last.size() - text.data()));
}

/// Rewrites every pair of adjacent bytes that matches, left to right and without overlap, like a regular expression of two
/// characters. Byte matching is safe: all classes are ASCII, or everything except ASCII digits.
std::string rewrite_pairs(std::string_view text, auto first, auto second, std::string_view before, std::string_view between,
                          std::string_view after) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 < text.size() && first(text[at]) && second(text[at + 1])) {
      result.append(before).append(1, text[at]).append(between).append(1, text[at + 1]).append(after);
      ++at;
    } else {
      result += text[at];
    }
  }
  return result;
}

using Words = std::vector<std::string>;

/// Counts of one sentence, in the words of `split`. Clips the matches of an n-gram to its highest count in any reference.
/// The reference length is the one closest to the hypothesis length; ties take the shorter. `fewest_ngrams` is the minimum
/// of totals for each order.
BleuCounts count_words(const std::string& hypothesis, std::span<const std::string> references, const auto& split,
                       Index fewest_ngrams = 0) {
  const Words produced = split(hypothesis);
  std::vector<Words> wanted;
  for (const std::string& reference : references) wanted.push_back(split(reference));
  BleuCounts counts{.hypothesis_length = std::ssize(produced), .reference_length = std::ssize(wanted[0])};
  const auto distance = [&](Index length) { return std::abs(length - counts.hypothesis_length); };
  for (const Words& text : wanted) {
    const Index length = std::ssize(text), nearer = distance(length) - distance(counts.reference_length);
    if (nearer < 0 || (nearer == 0 && length < counts.reference_length)) counts.reference_length = length;
  }
  for (std::size_t n = 1; n <= 4; ++n) {
    auto most = sorted_ngrams<std::string>(wanted[0], n);
    for (const Words& text : std::span(wanted).subspan(1)) most = either_ngrams(most, sorted_ngrams<std::string>(text, n));
    const auto ngrams = sorted_ngrams<std::string>(produced, n);
    counts.matches[n - 1] = shared_ngrams(ngrams, most);
    counts.totals[n - 1] = std::max(fewest_ngrams, std::ssize(ngrams));
  }
  return counts;
}

/// min(1, exp(1 - wanted / produced))
inline double brevity_penalty(double produced, double wanted) {
  if (produced >= wanted) return 1;
  return produced > 0 ? std::exp(1 - wanted / produced) : 0;
}

}  // namespace detail

/// The words that BLEU counts: the "13a" tokenizer of sacreBLEU, from NIST's mteval-v13a. Splits off punctuation, except
/// periods and commas inside numbers, dashes not after a digit, and non-ASCII punctuation.
inline std::vector<std::string> tokenize_13a(std::string_view sentence) {
  using namespace detail;
  std::string line(without_trailing_space(sentence));
  constexpr std::string_view replacements[][2] = {
      {"<skipped>", ""}, {"-\n", ""},    {"\n", " "},
      {"&quot;", "\""},  {"&amp;", "&"},  // before the next two, to turn &amp;lt; into <
      {"&lt;", "<"},     {"&gt;", ">"}};
  for (const auto& [from, to] : replacements) line = replaced(line, from, to);

  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_other = [&](char c) { return !is_digit(c); };
  const auto is_stop = [](char c) { return c == '.' || c == ','; };
  const auto is_dash = [](char c) { return c == '-'; };
  const auto is_symbol = [](char c) {
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
  };

  std::string spaced = " ";
  for (const char c : line) is_symbol(c) ? spaced.append({' ', c, ' '}) : spaced.append(1, c);
  spaced += ' ';
  spaced = rewrite_pairs(spaced, is_other, is_stop, "", " ", " ");
  spaced = rewrite_pairs(spaced, is_stop, is_other, " ", " ", "");
  spaced = rewrite_pairs(spaced, is_digit, is_dash, "", " ", " ");
  return split_words(spaced);
}

/// Counts of a sentence against its references, in 13a tokens.
inline BleuCounts bleu_counts(const std::string& hypothesis, std::span<const std::string> references) {
  return detail::count_words(hypothesis, references, tokenize_13a);
}

/// BLEU from summed counts. Computes precisions in Count, or in double for integer counts. Only those are kept.
template <class Count>
Bleu bleu_of_counts(const BleuSums<Count>& sums, Index references = 1) {
  using Real = std::conditional_t<std::is_integral_v<Count>, double, Count>;
  Bleu bleu;
  bleu.references = references;
  if constexpr (std::is_integral_v<Count>) static_cast<BleuCounts&>(bleu) = sums;
  bleu.brevity_penalty =
      detail::brevity_penalty(static_cast<double>(sums.hypothesis_length), static_cast<double>(sums.reference_length));
  if (std::ranges::count(sums.matches, Count{0}) == 4) return bleu;

  Real smoothing = 1;
  for (std::size_t n = 0; n < 4 && sums.totals[n] > 0; ++n) {
    const auto matches = static_cast<Real>(sums.matches[n]), total = static_cast<Real>(sums.totals[n]);
    if (matches == 0) smoothing *= 2;  // the first order without a match counts 1/2 match, the next 1/4, ...
    bleu.precisions[n] = matches == 0 ? 100 / (smoothing * total) : 100 * matches / total;
  }
  double sum_of_logs = 0;
  for (const double precision : bleu.precisions) sum_of_logs += precision > 0 ? std::log(precision) : -9999999999.0;
  bleu.score = bleu.brevity_penalty * std::exp(sum_of_logs / 4);
  return bleu;
}

/// BLEU of a corpus with several references per sentence: 13a tokens, case-sensitive, exponential smoothing. Each element
/// of `references` has one sentence per hypothesis.
inline Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  const auto sums = detail::sum_counts<BleuSums>("corpus_bleu", hypotheses, references, bleu_counts);
  return bleu_of_counts(sums, std::ssize(references));
}

/// BLEU of a corpus with one reference per sentence.
inline Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::string> references) {
  return corpus_bleu(hypotheses, detail::one_text(references));
}

}  // namespace attn
