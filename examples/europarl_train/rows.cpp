#include "rows.hpp"

#include <algorithm>

namespace {

/// Three rows a score: over the encoder, over the decoder's past too, both above self-attention.
void add_attention(std::vector<Row>& rows, const std::string& score, const std::string& title, const double (&wmt)[3],
                   const double (&europarl)[3]) {
  const char* places[] = {"encoder", "both", "self"};
  const char* words[] = {"on encoder", "on encoder and decoder", "on encoder and decoder + self-attention"};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = score + "-" + places[i];
    rows.push_back({"attention", name, title + " " + words[i], name, {{"wmt", wmt[i]}, {"europarl", europarl[i]}}});
  }
}

std::vector<Row> all() {
  std::vector<Row> rows;
  rows.push_back({"attention", "seq2seq", "seq2seq", "seq2seq", {{"wmt", 4.60}, {"europarl", 7.31}}});
  add_attention(rows, "additive", "additive", {10.77, 9.88, 8.39}, {17.83, 17.71, 15.55});
  add_attention(rows, "multiplicative", "multiplicative", {10.80, 10.74, 8.60}, {17.68, 17.70, 15.37});
  add_attention(rows, "scaled-dot", "scaled dot product", {9.64, 9.93, 8.91}, {17.32, 17.16, 15.72});
  add_attention(rows, "key-value", "key-value", {9.64, 10.59, 8.22}, {16.46, 17.07, 13.98});
  const auto add = [&](const char* name, const char* title, const char* model, double bleu, double perplexity,
                       double loss) {
    rows.push_back({"coursework", name, title, model, {{"test", bleu}}, perplexity, loss});
  };
  add("baseline", "input feeding", "input-feeding", 10.91, 27, 2.142);
  add("deeper", "2 encoder, 3 decoder layers", "input-feeding-deeper", 9.97, 29, 2.326);
  add("lexical", "lexical model", "input-feeding-lexical", 12.68, 24.1, 1.836);
  // The paper's 43.7 is its last epoch's; its best was 30.9.
  add("transformer", "Transformer", "transformer-small", 11.03, 30.9, 1.364);
  return rows;
}

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> known = all();
  return known;
}

std::vector<Row> rows_of(std::string_view experiment) {
  std::vector<Row> found;
  std::copy_if(rows().begin(), rows().end(), std::back_inserter(found),
               [&](const Row& row) { return row.experiment == experiment; });
  return found;
}

const Row* find_row(std::string_view experiment, std::string_view name) {
  for (const Row& row : rows())
    if (row.experiment == experiment && row.name == name) return &row;
  return nullptr;
}
