#include "options.hpp"

#include "common/command_line.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Translates German to English without a neural translation model: word for word, and with the
noisy channel, argmax P(x|y) P(y). IBM model 1 is the channel, an attn language model is P(y), and a
stack decoder searches. Writes a table with BLEU next to that of the neural models.

  statistical --neural runs/europarl/coursework.json

The data folder holds europarl-10k/{train,val,test}.{de,en}, as for europarl_train.
)";

}  // namespace

Options read_options(int count, char** words) {
  Options o;
  o.command = typed_command("statistical", count, words);
  CLI::App app(about, "statistical");
  const AddOptions text{app, "Text"}, model{app, "Models"}, search{app, "Search"}, results{app, "Results"};
  text("--data", o.data, "Folder of the texts")->capture_default_str();
  text("--training-pairs", o.training_pairs, "Train on the first N pairs; 0: all", whole_number(0));
  text("--validation", o.validation, "Translate the validation text instead of the test text");
  model("--iterations", o.iterations, "Iterations of IBM model 1", whole_number(1))->capture_default_str();
  model("--epochs", o.epochs, "Epochs of the language model; training stops when validation perplexity rises",
        whole_number(1))
      ->capture_default_str();
  model("--language-model", o.language_model, "Folder language_model/ of an earlier run: use it instead of training one",
        CLI::ExistingDirectory);
  model("--options", o.word_options, "Target words to try for each source word", whole_number(1))->capture_default_str();
  search("--stack-size", o.weighted.stack_size, "Hypotheses per stack", whole_number(1))->capture_default_str();
  search("--threshold", o.weighted.threshold, "Drop hypotheses this far below the best of a stack; default: none",
         positive_number());
  search("--distortion-limit", o.weighted.distortion_limit,
         "Furthest distance of the next source word from the first uncovered one; 0: monotone", whole_number(0))
      ->capture_default_str();
  search("--language-weight", o.weighted.language_weight, "Weight of log P(y) in the weighted row", number(0, 100))
      ->capture_default_str();
  search("--word-reward", o.weighted.word_reward, "Score added for each target word in the weighted row", number(-100, 100))
      ->capture_default_str();
  search("--distortion-weight", o.weighted.distortion_weight, "Penalty for each skipped word in the weighted row",
         number(0, 100))
      ->capture_default_str();
  results("--neural", o.neural, "coursework.json of europarl_train: repeat its rows in the table", CLI::ExistingFile);
  results("--output", o.output, "Folder for the table and the translations")->capture_default_str();
  AddOptions{app, "Device"}("--threads", o.threads, "Cores to use; 0: all", whole_number(0));
  read_command_line(app, count, words);
  return o;
}
