// Scores texts for tests/python/metrics.py and word_bleu.py: metric_scores METRIC SAMPLES SEED SYSTEMS REFERENCE... Every
// sentence ends with a zero byte, so that sentences may contain line feeds; SYSTEMS is the number of texts that are
// systems, SAMPLES is 0 for no bootstrap.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "attn/metrics/score_systems.hpp"

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
  attn::require(argc > 5, "usage: metric_scores METRIC SAMPLES SEED SYSTEMS TEXT...");
  std::vector<std::vector<std::string>> systems, references;
  for (int i = 5; i < argc; ++i) (i - 5 < std::stoi(argv[4]) ? systems : references).push_back(read_sentences(argv[i]));
  std::optional<attn::BootstrapOptions> bootstrap;
  if (std::stoi(argv[2]) > 0) bootstrap = {.samples = std::stoi(argv[2]), .seed = std::stoull(argv[3])};
  const auto scores = attn::score_systems(attn::corpus_metric(argv[1]), systems, references, bootstrap);
  std::cout << scores.signature << '\n';
  for (const attn::SystemScore& system : scores.systems) {
    std::cout << (systems.size() == 1 ? scores.metric + " = " + system.line() : system.cell()) << '\n';
    std::printf("%.17g", system.score);
    if (system.confidence) std::printf(" %.17g %.17g", system.confidence->mean, system.confidence->interval);
    if (system.p_value) std::printf(" %.17g", *system.p_value);
    std::printf("\n");
    std::fflush(stdout);
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
