// Scores a file of hypotheses against a file of references for tests/python/bleu.py. Every sentence ends with a zero byte,
// so that sentences may contain line feeds.
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/metrics/bleu.hpp"

namespace {

std::vector<std::string> read_sentences(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  attn::require(in.is_open(), "cannot read ", path);
  std::vector<std::string> sentences;
  for (std::string sentence; std::getline(in, sentence, '\0');) sentences.push_back(sentence);
  return sentences;
}

}  // namespace

int main(int argc, char** argv) try {
  attn::require(argc == 3,
                "usage: bleu_score HYPOTHESES REFERENCES, two files of sentences that each end with a zero byte");
  const attn::Bleu bleu = attn::corpus_bleu(read_sentences(argv[1]), read_sentences(argv[2]));
  std::cout << bleu.to_string() << '\n' << bleu.signature() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
