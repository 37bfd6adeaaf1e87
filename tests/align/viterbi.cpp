#include "attn/align/viterbi.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "attn/align/ibm_model1.hpp"
#include "attn/align/pharaoh.hpp"
#include "attn/align/symmetrize.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/metrics/alignment_error.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

using Links = std::vector<WordLink>;

Links links_of(const LexicalTable& table, const std::vector<Token>& source, const std::vector<Token>& target) {
  return viterbi_alignment(table, source, target);
}

/// t(target word | source word) of IBM model 1 after five iterations, by the formulas of Brown et al. 1993 as they are written,
/// word pair by word pair. Source word -1 is the empty word.
std::map<std::pair<Token, Token>, double> model1_by_hand(const Sentences& source, const Sentences& target) {
  std::map<std::pair<Token, Token>, double> t;
  for (int iteration = 0; iteration < 5; ++iteration) {
    std::map<std::pair<Token, Token>, double> counts;
    std::map<Token, double> totals;
    for (Index s = 0; s < source.size(); ++s) {
      std::vector<Token> words(source[s].begin(), source[s].end());
      words.push_back(-1);
      for (const Token f : target[s]) {
        std::vector<double> shares;
        double sum = 0;
        for (const Token e : words) sum += shares.emplace_back(iteration == 0 ? 1 : t[{e, f}]);
        for (std::size_t i = 0; i < words.size(); ++i) {
          counts[{words[i], f}] += shares[i] / sum;
          totals[words[i]] += shares[i] / sum;
        }
      }
    }
    t = std::move(counts);
    for (auto& [pair, probability] : t) probability /= totals[pair.first];
  }
  return t;
}

}  // namespace

TEST_CASE("Viterbi: links each target word to its most probable source word or to none") {
  // 0 -> 0 (0.6) 1 (0.4); 1 -> 1 (0.9) 2 (0.1); the empty word -> 0 (0.1) 2 (0.9)
  const LexicalTable table({0, 2, 4, 6}, {0, 1, 1, 2, 0, 2}, {0.6F, 0.4F, 0.9F, 0.1F, 0.1F, 0.9F});
  CHECK(links_of(table, {0, 1}, {1, 0, 2, 7}) == Links{{1, 0}, {0, 1}});
  CHECK(links_of(table, {1, 0}, {1, 0}) == Links{{0, 0}, {1, 1}});
  CHECK(links_of(table, {}, {1, 0}).empty());
  CHECK(links_of(table, {0, 1}, {}).empty());
  CHECK(links_of(table, {55}, {0}).empty());  // a word that the table does not know
}

TEST_CASE("Viterbi: links a repeated word near the diagonal") {
  const LexicalTable table({0, 1, 2, 2}, {0, 1}, {1.0F, 1.0F});
  CHECK(links_of(table, {0, 1, 0}, {0, 1, 0}) == Links{{0, 0}, {1, 1}, {2, 2}});
  CHECK(links_of(table, {0, 0}, {0}) == Links{{0, 0}});  // as near: the earlier
  CHECK(links_of(table, {0, 1, 1, 1, 1, 0}, {1, 1, 0}) == Links{{1, 0}, {2, 1}, {5, 2}});
}

TEST_CASE("Pharaoh format: counts from 0 with the source first") {
  CHECK(pharaoh_line(Links{{0, 0}, {1, 2}, {12, 1}}) == "0-0 1-2 12-1");
  CHECK(pharaoh_line(Links{}).empty());
}

TEST_CASE("Viterbi: links of real sentences match a manually trained model") {
  if (!has_data("alignment-gold")) return;
  const std::filesystem::path data = ATTN_TEST_DATA;
  ParallelText text = read_parallel(data / "alignment-gold/test.en", data / "alignment-gold/test.de");
  text.source.resize(25), text.target.resize(25);
  WordCounts source_words, target_words;
  for (const std::string& line : text.source) source_words.add(line);
  for (const std::string& line : text.target) target_words.add(line);
  const ParallelCorpus corpus = encode_corpus(text, WordVocabulary(source_words), WordVocabulary(target_words));
  const LexicalTable table = train_ibm_model1(corpus.source, corpus.target).table;
  auto t = model1_by_hand(corpus.source, corpus.target);
  Index linked = 0;
  double worst_probability = 0,
         worst_choice = 0;  // relative: words of one sentence alone are as probable, but for rounding
  for (Index s = 0; s < corpus.size(); ++s) {
    const auto source = corpus.source[s], target = corpus.target[s];
    std::vector<Token> chosen(target.size(), -1);
    for (const WordLink& link : viterbi_alignment(table, source, target))
      chosen[static_cast<std::size_t>(link.target)] = source[static_cast<std::size_t>(link.source)];
    for (std::size_t j = 0; j < target.size(); ++j) {
      double most = t[{-1, target[j]}];
      for (const Token word : source) {
        const double expected = t[{word, target[j]}];
        most = std::max(most, expected);
        worst_probability = std::max(worst_probability, std::abs(table.probability(word, target[j]) / expected - 1));
      }
      worst_choice = std::max(worst_choice, 1 - t[{chosen[j], target[j]}] / most);
      linked += chosen[j] >= 0;
    }
  }
  CHECK(worst_probability < 1e-6);
  CHECK(worst_choice < 1e-6);
  CHECK(linked > 250);
}

TEST_CASE("Viterbi: IBM model 1 aligns real sentences better than the diagonal and than after two iterations") {
  if (!has_data("europarl-10k") || !has_data("alignment-gold")) return;
  const std::filesystem::path data = ATTN_TEST_DATA;
  ParallelText text = read_parallel(data / "europarl-10k/train.en", data / "europarl-10k/train.de");
  const ParallelText pairs = read_parallel(data / "alignment-gold/test.en", data / "alignment-gold/test.de");
  const auto gold = read_alignments(data / "alignment-gold/alignment.talp", LinkOrder::target_source);
  text.source.insert(text.source.end(), pairs.source.begin(), pairs.source.end());
  text.target.insert(text.target.end(), pairs.target.begin(), pairs.target.end());
  WordCounts source_words, target_words;
  for (const std::string& line : text.source) source_words.add(line);
  for (const std::string& line : text.target) target_words.add(line);
  const WordVocabulary source(source_words), target(target_words);
  const ParallelCorpus corpus = encode_corpus(text, source, target), wanted = encode_corpus(pairs, source, target);

  const IbmModel1 forward = train_ibm_model1(corpus.source, corpus.target),
                  backward = train_ibm_model1(corpus.target, corpus.source);
  const LexicalTable early = train_ibm_model1(corpus.source, corpus.target, {.iterations = 2}).table;
  for (std::size_t i = 1; i < 5; ++i) CHECK(forward.log_likelihoods[i] > forward.log_likelihoods[i - 1]);
  AlignmentError directed, both, diagonal, two_iterations;
  for (Index i = 0; i < wanted.size(); ++i) {
    const Index sources = wanted.source.length(i), targets = wanted.target.length(i);
    Links straight;
    for (Index j = 0; j < targets; ++j) straight.push_back({j * sources / targets, j});
    diagonal.add(straight, gold[static_cast<std::size_t>(i)]);
    two_iterations.add(viterbi_alignment(early, wanted.source[i], wanted.target[i]), gold[static_cast<std::size_t>(i)]);
    const Links there = viterbi_alignment(forward.table, wanted.source[i], wanted.target[i]);
    const Links back = transposed(viterbi_alignment(backward.table, wanted.target[i], wanted.source[i]));
    directed.add(there, gold[static_cast<std::size_t>(i)]);
    both.add(symmetrize(there, back, Symmetrization::grow_diag_final_and), gold[static_cast<std::size_t>(i)]);
  }
  MESSAGE("alignment error rate: diagonal ", diagonal.rate(), ", two iterations ", two_iterations.rate(), ", directed ",
          directed.rate(), ", grow-diag-final-and ", both.rate());
  CHECK(directed.rate() < diagonal.rate());
  CHECK(directed.rate() < two_iterations.rate());
  CHECK(both.rate() < directed.rate());
}
