// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <iostream>

#include "attn/core/error.hpp"
#include "attn/core/folder_lock.hpp"
#include "attn/parallel/join_gpus.hpp"
#include "attn/parallel/join_ranks.hpp"
#include "attn/run/say_device.hpp"
#include "attn/run/share_machine.hpp"
#include "attn/run/stop_signal.hpp"
#include "command_line.hpp"
#include "papers/models.hpp"
#include "recipe.hpp"
#include "training.hpp"

using namespace attn;

namespace {

/// The card of the run in the output folder, if the run is to go on; else none. The folder is the first rank's to judge.
std::optional<RunCard> card_to_resume(const Options& options, bool leads) {
  if (!options.resume) {
    require(!leads || options.overwrite || !has_run(options.output), "there is a run in ", options.output.string(),
            " already: go on with it (--resume), replace it (--overwrite), or choose another folder (--output)");
    return std::nullopt;
  }
  RunCard card = read_run_card(options.output);
  require(std::filesystem::exists(options.output / "training.safetensors"), "the run in ", options.output.string(),
          " ended before its first validation, so there is nothing to go on from: begin again (--overwrite)");
  const std::string test = card.about.value("test", "");
  require(test.empty() || !options.test_source.empty(), "the run in ", options.output.string(),
          " was begun with --test-source .../", test,
          ": give it again, and its --test-target; without them the validation text would be scored");
  return card;
}

/// The card of the run whose weights this one begins with, if any; the model is then of the same kind.
std::optional<RunCard> card_to_start_from(Options& options) {
  if (options.start_from.empty()) return std::nullopt;
  require(!std::filesystem::equivalent(options.start_from, options.output), "--start-from and --output are one folder, ",
          options.output.string(), ": choose another folder for the new run");
  RunCard card = read_run_card(options.start_from);
  for (const auto& [name, value] : {std::pair("model", &options.model), {"size", &options.size}, {"norm", &options.norm}}) {
    require(card.settings.contains(name), options.start_from.string(),
            " was not made by wmt14_train: its settings have no '", name, "'");
    require(!options.given.contains(name) || *value == card.settings.at(name), "--", name, " ", *value,
            " does not fit --start-from: the run in ", options.start_from.string(), " has ", card.settings.at(name));
    *value = card.settings.at(name);
  }
  options.shared = card.model.tie_output;
  return card;
}

std::optional<AnyTokenizer> tokenizer_of(const std::optional<RunCard>& card) {
  return card ? std::optional(card->source) : std::nullopt;
}

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
  const std::optional<RunCard> before = card_to_resume(options, ranks.leads());
  Texts texts = read_texts(options);
  apply_recipe(options, texts.pairs());
  const std::optional<RunCard> start = card_to_start_from(options);
  const Corpus corpus = encode_texts(options, texts, tokenizer_of(before ? before : start), ranks);
  std::cout << "settings: " << options.describe() << std::endl;
  train(options, texts, corpus, before, start, ranks);
  if (!ranks.any(stop_signal() != 0)) return 0;
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
