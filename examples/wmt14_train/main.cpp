// Trains and scores a translation model: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE machine
// translation task", and, without options, a small one that takes two minutes and needs no data.

#include <unistd.h>

#include <exception>
#include <iostream>

#include "attn/models/recurrent_shape.hpp"
#include "attn/parallel/join_ranks.hpp"
#include "common/earlier_run.hpp"
#include "common/folder_lock.hpp"
#include "common/print_device.hpp"
#include "common/share_machine.hpp"
#include "common/standard_output.hpp"
#include "common/stop_signal.hpp"
#include "common/training_command_line.hpp"
#include "training.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Trains a Transformer, a Linformer or a recurrent model to translate, and scores it: BLEU on unseen
text. Without options: a corpus from a small grammar, a small Transformer, about two minutes on two
cores. With your own files, where line i of one translates line i of the other:

  wmt14_train --train-source train.en --train-target train.de \
    --test-source test.en --test-target test.de

Options that you omit depend on the size of the text and are printed. The output folder gets the
best model (for `translate FOLDER`), a log, learning curves and the translations of the test;
--resume continues from its training.safetensors. With BART's tokenizer (--vocab, --merges),
--recipe paper and --model linformer32 it trains a model of the Linformer paper on WMT14.
)";

void check(const CLI::App& app, Options& o) {
  check_options(app, o);
  if (is_recurrent(o.model))
    for (const char* name :
         {"--size", "--norm", "--heads", "--inner", "--attention-dropout", "--activation-dropout", "--shared"})
      if (app.count(name) > 0)
        throw CLI::ValidationError(std::string(name) + " requires a Transformer or Linformer, not " + o.model);
}

/// Standard output reserved for JSON lines: redirects std::cout to standard error.
std::ostream& output_of_json() {
  static std::ostream out(std::cout.rdbuf());
  std::cout.rdbuf(std::cerr.rdbuf());
  return out;
}

/// Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words) {
  Options o;
  o.output = "runs/wmt14";
  o.command = typed_command("wmt14_train", count, words);
  CLI::App app(about, "wmt14_train");
  add_options(app, o, true);
  bool json = false;
  add_result_options(app, o);
  AddOptions{app, "Results"}("--json", json,
                             "Stream the lines of log.jsonl to standard output, and messages to standard error");
  read_command_line(app, count, words, [&] { check(app, o); });
  if (is_recurrent(o.model)) o.shared = false;
  if (json) o.json = &output_of_json();
  o.terminal = ::isatty(json ? STDERR_FILENO : STDOUT_FILENO) != 0;
  return o;
}

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
