#include "experiment.hpp"

#include "attn/metrics/bleu.hpp"
#include "attn/metrics/word_bleu.hpp"
#include "attn/text/word_split.hpp"

using namespace attn;

namespace {

using Lines = Experiment::Lines;

/// Three rows per score: attention over the encoder; over the encoder and the decoder's past; both on top of
/// self-attention.
void add_attention(std::vector<Row>& rows, const std::string& score, const std::string& title, const double (&wmt)[3],
                   const double (&europarl)[3]) {
  const char* places[] = {"encoder", "both", "self"};
  const char* words[] = {"on encoder", "on encoder and decoder", "on encoder and decoder + self-attention"};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = score + "-" + places[i];
    rows.push_back({name, title + " " + words[i], name, {{"wmt", wmt[i]}, {"europarl", europarl[i]}}});
  }
}

std::vector<Row> attention_rows() {
  std::vector<Row> rows{{"seq2seq", "seq2seq", "seq2seq", {{"wmt", 4.60}, {"europarl", 7.31}}}};
  add_attention(rows, "additive", "additive", {10.77, 9.88, 8.39}, {17.83, 17.71, 15.55});
  add_attention(rows, "multiplicative", "multiplicative", {10.80, 10.74, 8.60}, {17.68, 17.70, 15.37});
  add_attention(rows, "scaled-dot", "scaled dot product", {9.64, 9.93, 8.91}, {17.32, 17.16, 15.72});
  add_attention(rows, "key-value", "key-value", {9.64, 10.59, 8.22}, {16.46, 17.07, 13.98});
  return rows;
}

bool ended(const std::string& line, Index limit) {
  Index words = 0;
  for_each_spaced_word(line, [&](std::string_view) { ++words; });
  return words < limit;
}

/// Chittersu scores sentences with their special tokens and counts <unk> as a word. A translation that reached the limit
/// has no end token.
Lines with_special_tokens(Lines lines, Index limit) {
  for (std::string& line : lines) line = "<sos> " + line + (ended(line, limit) ? " <eos>" : "");
  return lines;
}

/// The coursework's program writes an empty line for a translation without an end token.
Lines those_that_ended(Lines lines, Index limit) {
  for (std::string& line : lines)
    if (!ended(line, limit)) line.clear();
  return lines;
}

/// Maps <num> and <unk> to one token each. Unknown words of hypothesis and reference never match.
Lines for_sacrebleu(Lines lines, std::string_view unknown) {
  for (std::string& line : lines) {
    std::string words;
    for_each_spaced_word(line, [&](std::string_view word) {
      words.append(word == "<unk>" ? unknown : word == "<num>" ? "num" : word).append(" ");
    });
    line = words;
  }
  return lines;
}

/// Chittersu's program: an epoch is 600 random batches, and the loss is summed over the steps of a sentence. The limit of
/// 14 excludes <sos>.
Recipe attention_recipe() {
  return {.batches = {.size = 300, .order = BatchOrder::pooled, .pool = 100},
          .adam = {.epsilon = 1e-3, .amsgrad = true, .clip_norm = 5},
          .train = {.epochs = 10, .mean = BatchUnit::sentences, .validate_every = 600},
          .rate = 0.01,
          .limit = 14,
          .unknown = true};
}

Recipe coursework_recipe() {
  return {.batches = {.size = 10, .order = BatchOrder::pooled, .pool = 1'000'000},
          .adam = {.clip_norm = 4},
          .train = {.epochs = 100, .mean = BatchUnit::sentences, .patience = 10},
          .rate = 3e-4,
          .limit = 100};
}

std::vector<Row> coursework_rows() {
  return {
      {"baseline", "input feeding", "input-feeding", {{"test", 10.91}}, 27, 2.142},
      {"deeper", "2 encoder, 3 decoder layers", "input-feeding-deeper", {{"test", 9.97}}, 29, 2.326},
      {"lexical", "lexical model", "input-feeding-lexical", {{"test", 12.68}}, 24.1, 1.836},
      // The paper's 43.7 is from its last epoch; its best epoch has 30.9.
      {"transformer",
       "Transformer",
       "transformer-small",
       {{"test", 11.03}},
       30.9,
       1.364,
       "The paper's Transformer attends to padding, because its code discards the result of `masked_fill`. attn stores no "
       "padding, so this row does not reproduce the error."}};
}

}  // namespace

const Experiment& experiment(const std::string& name) {
  static const Experiment attention{
      "attention", attention_recipe(), attention_rows(), "NLTK's corpus_bleu of words, including <sos>, <eos> and <unk>",
      [](const Lines& translations, const Lines& references, Index limit) -> Scores {
        return {nltk_bleu(with_special_tokens(translations, limit), with_special_tokens(references, keep_all_tokens)),
                corpus_bleu(for_sacrebleu(translations, "UNK"), for_sacrebleu(references, "unk")).score};
      }};
  static const Experiment coursework{"coursework", coursework_recipe(), coursework_rows(),
                                     "multi-bleu.perl -lc; a translation cut off at the limit counts as an empty line",
                                     [](const Lines& translations, const Lines& references, Index limit) -> Scores {
                                       return {multi_bleu(those_that_ended(translations, limit), references, true),
                                               corpus_bleu(translations, references).score};
                                     }};
  return name == "attention" ? attention : coursework;
}
