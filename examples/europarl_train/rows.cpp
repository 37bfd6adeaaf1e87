#include "rows.hpp"

#include <algorithm>

namespace {

using Runs = void (*)(const Job&);

/// Three rows a score: over the encoder, over the decoder's past too, both above self-attention.
void add_attention(std::vector<Row>& rows, const std::string& name, const std::string& title, Runs cpu, Runs cuda,
                   const double (&wmt)[3], const double (&europarl)[3]) {
  const char* places[] = {"encoder", "both", "self"};
  const char* words[] = {"on encoder", "on encoder and decoder", "on encoder and decoder + self-attention"};
  for (std::size_t i = 0; i < 3; ++i)
    rows.push_back({"attention",
                    name + "-" + places[i],
                    title + " " + words[i],
                    cpu,
                    cuda,
                    {{"wmt", wmt[i]}, {"europarl", europarl[i]}}});
}

std::vector<Row> all() {
  std::vector<Row> rows;
  rows.push_back({"attention", "seq2seq", "seq2seq", cpu_seq2seq, cuda_seq2seq, {{"wmt", 4.60}, {"europarl", 7.31}}});
  add_attention(rows, "additive", "additive", cpu_additive, cuda_additive, {10.77, 9.88, 8.39}, {17.83, 17.71, 15.55});
  add_attention(rows, "multiplicative", "multiplicative", cpu_multiplicative, cuda_multiplicative, {10.80, 10.74, 8.60},
                {17.68, 17.70, 15.37});
  add_attention(rows, "scaled-dot", "scaled dot product", cpu_scaled_dot, cuda_scaled_dot, {9.64, 9.93, 8.91},
                {17.32, 17.16, 15.72});
  add_attention(rows, "key-value", "key-value", cpu_key_value, cuda_key_value, {9.64, 10.59, 8.22}, {16.46, 17.07, 13.98});
  rows.push_back(
      {"coursework", "baseline", "input feeding", cpu_input_feeding, cuda_input_feeding, {{"test", 10.91}}, 27, 2.142});
  rows.push_back({"coursework",
                  "deeper",
                  "2 encoder, 3 decoder layers",
                  cpu_input_feeding,
                  cuda_input_feeding,
                  {{"test", 9.97}},
                  29,
                  2.326});
  rows.push_back({"coursework", "lexical", "lexical model", cpu_lexical, cuda_lexical, {{"test", 12.68}}, 24.1, 1.836});
  // The paper's 43.7 is its last epoch's; its best was 30.9.
  rows.push_back(
      {"coursework", "transformer", "Transformer", cpu_transformer, cuda_transformer, {{"test", 11.03}}, 30.9, 1.364});
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
