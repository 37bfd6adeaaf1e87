// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include "attn/core/error.hpp"
#include "models.hpp"

namespace {

void prepare(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  attn::require(!error, "cannot make the output folder ", folder.string(), ": ", error.message(),
                "; choose another with --output");
}

}  // namespace

int main(int count, char** words) try {
  const std::map<std::string, void (*)(const Options&, const Corpus&)> runs{
      {"transformer small", run_transformer_small}, {"transformer base", run_transformer_base},
      {"linformer32 small", run_linformer32_small}, {"linformer32 base", run_linformer32_base},
      {"linformer64 small", run_linformer64_small}, {"linformer64 base", run_linformer64_base}};
  const Options options = read_options(count, words);
  prepare(options.output);
  runs.at(options.model + " " + options.size)(options, load_corpus(options));
} catch (const std::exception& error) {
  std::cerr << "wmt14_train: " << error.what() << "\n";
  return 1;
}
