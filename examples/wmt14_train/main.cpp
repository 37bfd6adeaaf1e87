// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include "attn/core/error.hpp"
#include "gpus.hpp"
#include "models.hpp"

namespace {

/// "cpu" or "cuda": what --device names, or means. What is not there is said now and not after the text has been read.
std::string choose_device(const Options& options) {
  const bool cuda = options.device == "cuda" || (options.device == "auto" && gpus() > 0);
  if (cuda) {
    check_gpu(options.gpu);
    std::cout << gpus_found() << "; this run is on GPU " << options.gpu << ", in " << options.precision << "\n";
  } else if (options.device == "auto" && built_with_cuda()) {
    std::cout << gpus_found() << "; this run is on the CPU\n";
  }
  return cuda ? "cuda" : "cpu";
}

void prepare(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  attn::require(!error, "cannot make the output folder ", folder.string(), ": ", error.message(),
                "; choose another with --output");
}

}  // namespace

int main(int count, char** words) try {
  const std::map<std::string, void (*)(const Options&, const Corpus&)> runs{
      {"cpu transformer", cpu_transformer},   {"cpu linformer32", cpu_linformer32},
      {"cpu linformer64", cpu_linformer64},   {"cuda transformer", cuda_transformer},
      {"cuda linformer32", cuda_linformer32}, {"cuda linformer64", cuda_linformer64}};
  const Options options = read_options(count, words);
  const std::string device = choose_device(options);
  prepare(options.output);
  runs.at(device + " " + options.model)(options, load_corpus(options));
} catch (const attn::OutOfMemory& error) {
  std::cerr << "wmt14_train: " << error.what()
            << ": the one with --batch, --batch-unit tokens or --truncate, the other with --size or --vocabulary\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "wmt14_train: " << error.what() << "\n";
  return 1;
}
