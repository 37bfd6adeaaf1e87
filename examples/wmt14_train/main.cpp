// Trains and scores a translation model: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE machine
// translation task", and, without options, a small one that takes two minutes and needs no data.

#include <exception>
#include <iostream>

#include "attn/core/error.hpp"
#include "attn/parallel/join_ranks.hpp"
#include "command_line.hpp"
#include "common/earlier_run.hpp"
#include "common/folder_lock.hpp"
#include "common/print_device.hpp"
#include "common/share_machine.hpp"
#include "common/standard_output.hpp"
#include "common/stop_signal.hpp"
#include "common/training_command_line.hpp"
#include "options.hpp"
#include "training.hpp"

using namespace attn;

namespace {

/// A communicator that sums gradients on the GPUs; null if gradients are summed on the host.
std::unique_ptr<Communicator> join_gpus_of(const Options& options, Communicator& processes) {
  const bool on_gpu = backend(options.device).starts_with("cuda");
  require(on_gpu || options.sum_on != SumOn::nccl, "--sums nccl requires a GPU, but this run is on the CPU");
  if (!on_gpu || options.sum_on == SumOn::host) return nullptr;
  return join_gpus(processes, options.device.gpu, options.sum_on == SumOn::nccl);
}

int run(Options options, Communicator& processes) {
  if (!processes.leads()) std::cout.setstate(std::ios::failbit);  // only the lead rank prints
  share_machine(options.device, processes);
  print_device(std::cout, options.device);
  const std::unique_ptr<Communicator> gpus = join_gpus_of(options, processes);
  Communicator& ranks = gpus ? *gpus : processes;
  std::optional<FolderLock> lock;
  if (options.resume) read_run_config(options.output);  // throws before the lock creates a folder without a run
  if (ranks.leads()) lock.emplace(options.output);
  const std::optional<RunConfig> before = run_to_resume(options, ranks.leads());
  TrainingText texts = read_texts(options);
  apply_recipe(options, texts.pairs());
  const std::optional<RunConfig> start = run_to_start_from(options);
  const TrainingCorpus corpus = encode_texts(options, texts, tokenizers_of(before ? before : start), ranks);
  std::cout << "settings: " << describe(options) << std::endl;
  if (train(options, texts, corpus, before, ranks)) {
    if (processes.leads()) require_written(std::cout, "the progress");
    if (processes.leads() && options.json != nullptr) require_written(*options.json, "the lines of the log");
    return 0;
  }
  std::cout << "stopped. Continue with the same options and --resume\n";
  return stop_signal() != 0 ? stop_status() : 1;
}

}  // namespace

int main(int count, char** words) {
  auto ranks = std::make_unique<Communicator>();
  try {
    const Options options = read_options(count, words);
    ranks = join_ranks();
    return run(options, *ranks);
  } catch (const OutOfMemory& error) {
    return ranks->stop_all(1, "wmt14_train: " + std::string(error.what()) + " (--batch, --truncate; --size, --vocabulary)");
  } catch (const std::exception& error) {
    return ranks->stop_all(1, "wmt14_train: " + std::string(error.what()));
  }
}
