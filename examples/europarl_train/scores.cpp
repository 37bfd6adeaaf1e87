#include "scores.hpp"

#include "attn/metrics/bleu.hpp"
#include "attn/metrics/word_bleu.hpp"

using namespace attn;

namespace {

bool ended(const std::string& line, std::size_t limit) { return detail::split_words(line).size() < limit; }

/// Chittersu scores what his program writes: sentences with their special tokens, <unk> a word like any other. A translation that
/// reached the limit has no end token.
std::vector<std::string> with_special_tokens(const std::vector<std::string>& lines, std::size_t limit) {
  std::vector<std::string> marked;
  for (const std::string& line : lines) marked.push_back("<sos> " + line + (ended(line, limit) ? " <eos>" : ""));
  return marked;
}

/// The coursework's program writes an empty line for a translation that has not ended within the limit.
std::vector<std::string> those_that_ended(std::vector<std::string> lines, std::size_t limit) {
  for (std::string& line : lines)
    if (!ended(line, limit)) line.clear();
  return lines;
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
  return experiment == "attention"
             ? "NLTK's corpus_bleu of words with the special_tokens <sos> and <eos>, <unk> being a word"
             : "multi-bleu.perl -lc, of an empty line for each translation that had not ended at the limit";
}

Scores score(const Options& options, const std::vector<std::string>& translations,
             const std::vector<std::string>& references) {
  const auto limit = static_cast<std::size_t>(options.recipe.limit);
  if (options.experiment == "attention")
    return {nltk_bleu(with_special_tokens(translations, limit), with_special_tokens(references, std::string::npos)),
            corpus_bleu(for_sacrebleu(translations, "UNK"), for_sacrebleu(references, "unk")).score};
  return {multi_bleu(those_that_ended(translations, limit), references, true), corpus_bleu(translations, references).score};
}
