// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <iostream>
#include <map>
#include <string>

#include "attn/core/error.hpp"
#include "models.hpp"
#include "run_folder.hpp"

int main(int count, char** words) try {
  const std::map<std::string, void (*)(const Options&, const Corpus&)> runs{
      {"cpu transformer", cpu_transformer},   {"cpu linformer32", cpu_linformer32},
      {"cpu linformer64", cpu_linformer64},   {"cuda transformer", cuda_transformer},
      {"cuda linformer32", cuda_linformer32}, {"cuda linformer64", cuda_linformer64}};
  const Options options = read_options(count, words);
  const std::string device = is_gpu(options) ? "cuda" : "cpu";
  make_folder(options.output);
  runs.at(device + " " + options.model)(options, load_corpus(options));
} catch (const attn::OutOfMemory& error) {
  std::cerr << "wmt14_train: " << error.what()
            << ": the one with --batch, --batch-unit tokens or --truncate, the other with --size or --vocabulary\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "wmt14_train: " << error.what() << "\n";
  return 1;
}
