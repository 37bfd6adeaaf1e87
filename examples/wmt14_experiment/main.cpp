// The experiment of "Evaluating Linformer's performance on the WMT14 EN-DE machine translation task": trains the paper's
// three models on the same text and writes its tables, translations and figures.

#include <exception>
#include <iostream>

#include "common/folder_lock.hpp"
#include "common/print_device.hpp"
#include "common/standard_output.hpp"
#include "common/stop_signal.hpp"
#include "results.hpp"
#include "train_models.hpp"

using namespace attn;

int main(int count, char** words) try {
  const ExperimentOptions options = read_options(count, words);
  print_device(std::cout, options.training.device);
  const FolderLock lock(options.folder());
  using Part = std::pair<const char*, void (*)(const ExperimentOptions&)>;
  for (const auto& [name, run] : {Part("train", train_models),
                                  {"tables", write_tables},
                                  {"samples", write_samples},
                                  {"singular-values", write_singular_values},
                                  {"figures", draw_figures},
                                  {"k", sweep_projections}}) {
    if (!options.wants(name)) continue;
    if (name != std::string("train") && name != std::string("k")) watch_stop_signals();  // training does so itself, later
    run(options);
    if (stop_signal() != 0) {
      std::cout << "stopped in the part " << name << ". Repeat the command to resume it.\n";
      return stop_status();
    }
  }
  require_written(std::cout, "the progress");
} catch (const std::exception& error) {
  std::cerr << "wmt14_experiment: " << error.what() << "\n";
  return 1;
}
