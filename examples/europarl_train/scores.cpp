#include "scores.hpp"

#include <cstdio>

#include "attn/metrics/bleu.hpp"
#include "attn/metrics/word_bleu.hpp"

using namespace attn;

namespace {

/// Chittersu scores what his program writes: sentences with their marks, <unk> a word like any other. A translation that
/// reached the limit has no end mark.
std::vector<std::string> with_marks(const std::vector<std::string>& lines, std::size_t limit) {
  std::vector<std::string> marked;
  for (const std::string& line : lines) {
    const bool ended = detail::split_words(line).size() < limit;
    marked.push_back("<sos> " + line + (ended ? " <eos>" : ""));
  }
  return marked;
}

/// <num> and <unk> as one token each; unknown words of the two sides are never the same.
std::vector<std::string> for_sacrebleu(std::vector<std::string> lines, const char* unknown) {
  for (std::string& line : lines) {
    detail::replace_all(line, "<unk>", unknown);
    detail::replace_all(line, "<num>", "num");
  }
  return lines;
}

}  // namespace

std::string paper_bleu(const std::string& experiment) {
  return experiment == "attention" ? "NLTK's corpus_bleu of words with the marks <sos> and <eos>, <unk> being a word"
                                   : "multi-bleu.perl -lc";
}

Scores score(const Options& options, const std::vector<std::string>& translations,
             const std::vector<std::string>& references) {
  if (options.experiment == "attention")
    return {nltk_bleu(with_marks(translations, static_cast<std::size_t>(options.recipe.limit)),
                      with_marks(references, std::string::npos)),
            corpus_bleu(for_sacrebleu(translations, "UNK"), for_sacrebleu(references, "unk")).score};
  return {multi_bleu(translations, references, true), corpus_bleu(translations, references).score};
}

std::string rounded(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}
