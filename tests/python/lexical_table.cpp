// Trains IBM model 1 on two files of sentences of ids for tests/python/ibm_model1.py, and prints `source target probability` for
// every pair of the table, -1 standing for the empty word.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "attn/align/ibm_model1.hpp"
#include "attn/data/parallel_text.hpp"

namespace {

attn::Sentences read_ids(const char* path) {
  attn::Sentences sentences;
  for (const std::string& line : attn::read_lines(path)) {
    std::istringstream words(line);
    std::vector<attn::Token> ids;
    for (attn::Token id = 0; words >> id;) ids.push_back(id);
    sentences.push_back(ids);
  }
  return sentences;
}

}  // namespace

int main(int argc, char** argv) try {
  attn::require(argc == 4, "usage: lexical_table SOURCE TARGET ITERATIONS");
  const auto model = attn::train_ibm_model1(read_ids(argv[1]), read_ids(argv[2]), {.iterations = std::atoi(argv[3])});
  const attn::LexicalTable& table = model.table;
  for (attn::Token source = 0; source <= table.empty_word(); ++source) {
    const auto row = table[source];
    for (std::size_t i = 0; i < row.targets.size(); ++i)
      std::printf("%d %d %.9g\n", source == table.empty_word() ? -1 : source, row.targets[i],
                  static_cast<double>(row.probabilities[i]));
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
