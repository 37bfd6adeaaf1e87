// The experiment of "Evaluating Linformer's performance on the WMT14 EN-DE machine translation task": trains the paper's
// three models on the same text and writes its tables, translations and figures.

#include <unistd.h>

#include <exception>
#include <iostream>

#include "common/folder_lock.hpp"
#include "common/print_device.hpp"
#include "common/stop_signal.hpp"
#include "common/training_command_line.hpp"
#include "experiment.hpp"

using namespace attn;

namespace {

const char* about =
    R"(The experiment of "Evaluating Linformer's performance on the WMT14 EN-DE machine translation task":
trains a Transformer and Linformers of k = 32 and k = 64 as wmt14_train does, on the same text, and
writes the paper's tables and figures. It keeps finished parts, so you can repeat an interrupted
command to resume it. Its parts, which --part selects after `train` has run:

  train            transformer/, linformer32/, linformer64/: a run's folder each, scored on the test
  tables           tables.md: perplexity, BLEU, seconds per batch and hours, next to the paper's
  samples          samples.md: test sentences and the three translations side by side
  singular-values  singular-values.svg and .tsv: attention of the Transformer, trained and untrained
  figures          figure1.svg, figure2.svg, inference.tsv: time of a forward pass against length
  k                k.svg, k.tsv: BLEU and loss of ten further Linformers against k; only on request
)";

/// Prints help or an error and exits if there is nothing else to do.
ExperimentOptions read_options(int count, char** words) {
  ExperimentOptions o;
  o.training.output = "runs/wmt14_experiment";
  o.training.command = typed_command("wmt14_experiment", count, words);
  CLI::App app(about, "wmt14_experiment");
  const AddOptions what{app, "What"}, results{app, "Results"};
  what("--part", o.parts, "Run only these parts, comma-separated",
       CLI::IsMember({"train", "tables", "samples", "singular-values", "figures", "k"}))
      ->delimiter(',');
  add_options(app, o.training, false);
  results("--output", o.training.output, "Output folder")->capture_default_str();
  results("--limit", o.training.limit, "Maximum tokens per translation", whole_number(1, 100'000));
  results("--samples", o.samples, "samples: number of evenly spaced test sentences, besides the paper's", whole_number(0))
      ->capture_default_str();
  results("--sentences", o.matrices_of, "singular-values: number of validation sentences to analyse", whole_number(1))
      ->capture_default_str();
  results("--tokens", o.figure_tokens,
          "figures: tokens per forward pass, a power of 2 from 128 to 16,384; 16,384 on a GPU, 1,024 on a CPU",
          whole_number(128, 16'384));
  results("--repeats", o.repeats, "figures: forward passes to average", whole_number(1))->capture_default_str();
  results("--k", o.sweep_k, "k: values of k in increasing order, comma-separated", whole_number(1, 256))
      ->delimiter(',')
      ->capture_default_str();
  results("--lengths", o.sweep_tokens, "k: maximum tokens per sentence, instead of --truncate", whole_number(2, 256))
      ->delimiter(',')
      ->capture_default_str();
  results(
      "--join", o.sweep_words,
      "k: join consecutive pairs to at most this many words per side; one number for each of --lengths, comma-separated",
      whole_number(1))
      ->delimiter(',');
  results("--pytorch", o.pytorch,
          "figures: PyTorch's times, from benchmarks/pytorch_inference.py; default: pytorch.tsv, if present",
          CLI::ExistingFile);
  read_command_line(app, count, words, [&] {
    o.training.model = "linformer32";  // what all three models can take
    check_options(app, o.training);
    if (!o.sweep_words.empty() && o.sweep_words.size() != o.sweep_tokens.size())
      throw CLI::ValidationError("--join needs one number for each of --lengths: " + std::to_string(o.sweep_tokens.size()));
    if (!o.sweep_words.empty() && !o.training.text.shards.empty())
      throw CLI::ValidationError("--join needs --train-source and --train-target, not --shards");
    if ((o.figure_tokens & (o.figure_tokens - 1)) != 0)
      throw CLI::ValidationError("--tokens: " + std::to_string(o.figure_tokens) + " is not a power of 2");
  });
  o.training.terminal = ::isatty(STDOUT_FILENO) != 0;
  return o;
}

}  // namespace

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
