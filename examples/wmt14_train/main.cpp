// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <iostream>

#include "attn/core/error.hpp"
#include "attn/core/folder_lock.hpp"
#include "attn/parallel/join_gpus.hpp"
#include "attn/parallel/join_ranks.hpp"
#include "attn/run/earlier_run.hpp"
#include "attn/run/say_device.hpp"
#include "attn/run/share_machine.hpp"
#include "attn/run/standard_output.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/run/training_command_line.hpp"
#include "command_line.hpp"
#include "papers/models.hpp"
#include "recipe.hpp"
#include "training.hpp"

using namespace attn;

namespace {

/// The ranks' GPUs, where they add up gradients among themselves; none where these go through the host.
std::unique_ptr<Communicator> join_gpus_of(const Options& options, Communicator& processes) {
  const bool on_gpu = backend(options.device).starts_with("cuda");
  require(on_gpu || options.sums != "nccl", "--sums nccl is for GPUs; this run is on the CPU");
  if (!on_gpu || options.sums == "host") return nullptr;
  return join_gpus(processes, options.device.gpu, options.sums == "nccl");
}

int run(Options options, Communicator& processes) {
  if (!processes.leads()) std::cout.setstate(std::ios::failbit);  // one of them speaks
  share_machine(options.device, processes);
  say_device(std::cout, options.device);
  const std::unique_ptr<Communicator> gpus = join_gpus_of(options, processes);
  Communicator& ranks = gpus ? *gpus : processes;
  std::optional<FolderLock> lock;
  if (options.resume) read_run_card(options.output);  // a folder without a run is not made one by a lock
  if (ranks.leads()) make_folder(options.output), lock.emplace(options.output);
  const std::optional<RunCard> before = run_to_resume(options, ranks.leads());
  TrainingText texts = read_texts(options);
  apply_recipe(options, texts.pairs());
  const std::optional<RunCard> start = run_to_start_from(options);
  const TrainingCorpus corpus = encode_texts(options, texts, tokenizer_of(before ? before : start), ranks);
  std::cout << "settings: " << describe(options) << std::endl;
  if (train(options, texts, corpus, before, ranks)) {
    if (processes.leads()) require_written(std::cout, "how the training went");
    if (processes.leads() && options.json != nullptr) require_written(*options.json, "the lines of the log");
    return 0;
  }
  std::cout << "stopped; go on with the same options and --resume\n";
  return stop_signal() != 0 ? stop_status() : 1;
}

}  // namespace

int main(int count, char** words) {
  auto ranks = std::make_unique<Communicator>();
  try {
    papers::add_models(models());
    const Options options = read_options(count, words);
    ranks = join_ranks();
    return run(options, *ranks);
  } catch (const OutOfMemory& error) {
    return ranks->stop_all(
        1, "wmt14_train: " + std::string(error.what()) +
               ": the one with --batch, --batch-unit tokens or --truncate, the other with --vocabulary or --size");
  } catch (const std::exception& error) {
    return ranks->stop_all(1, "wmt14_train: " + std::string(error.what()));
  }
}
