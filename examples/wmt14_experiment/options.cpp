#include "options.hpp"

#include <unistd.h>

#include "attn/run/training_command_line.hpp"

using namespace attn;

namespace {

const char* about =
    R"(The experiment of "Evaluating Linformer's performance on the WMT14 EN-DE machine translation task":
trains a Transformer and Linformers of k = 32 and k = 64 as wmt14_train does, on the same text, and
writes the paper's tables and figures. What is there already is kept: a command that was stopped is
repeated and goes on. Its parts, of which --part runs some alone, once `train` has been run:

  train            transformer/, linformer32/, linformer64/: a run's folder each, scored on the test
  tables           tables.md: perplexity and BLEU, seconds a batch and hours, beside the paper's
  samples          samples.md: test sentences and the three translations side by side
  singular-values  singular-values.svg and .tsv: of the Transformer's attention, trained and not
  figures          figure1.svg, figure2.svg, inference.tsv: time of a forward pass against length
)";

}  // namespace

ExperimentOptions read_options(int count, char** words) {
  ExperimentOptions o;
  o.training.output = "runs/wmt14_experiment";
  o.training.command = typed_command("wmt14_experiment", count, words);
  CLI::App app(about, "wmt14_experiment");
  app.set_config("--config", "", "Read options from a file: lines of name=value, named as here without the dashes");
  const AddOptions what{app, "What"}, results{app, "Results"};
  what("--part", o.parts, "Only these parts, comma-separated",
       CLI::IsMember({"train", "tables", "samples", "singular-values", "figures"}))
      ->delimiter(',');
  add_text_options(app, o.training);
  add_model_options(app, o.training);
  add_training_options(app, o.training);
  results("--output", o.training.output, "Folder for what it writes")->capture_default_str();
  results("--limit", o.training.limit, "Tokens of a translation", whole_number(1, 100'000));
  results("--samples", o.samples, "samples: sentences, evenly spaced in the test text, beside the paper's", whole_number(0))
      ->capture_default_str();
  results("--sentences", o.matrices_of, "singular-values: validation sentences whose attention is looked at",
          whole_number(1))
      ->capture_default_str();
  results("--tokens", o.figure_tokens,
          "figures: tokens of a forward pass, a power of 2 from 128 to 16,384; 16,384 on a GPU, 1,024 on a CPU",
          whole_number(128, 16'384));
  results("--repeats", o.repeats, "figures: forward passes whose mean is taken", whole_number(1))->capture_default_str();
  results("--pytorch", o.pytorch,
          "figures: PyTorch's times, from benchmarks/pytorch_inference.py; pytorch.tsv if it is there", CLI::ExistingFile);
  read_command_line(app, count, words, [&] {
    o.training.model = "linformer32";  // what all three models can take
    check_options(o.training);
    if ((o.figure_tokens & (o.figure_tokens - 1)) != 0)
      throw CLI::ValidationError("--tokens: " + std::to_string(o.figure_tokens) + " is not a power of 2");
  });
  note_given(app, o.training);
  o.training.device.plans = o.training.output;
  o.training.terminal = ::isatty(STDOUT_FILENO) != 0;
  return o;
}
