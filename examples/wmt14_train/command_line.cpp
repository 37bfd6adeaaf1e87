#include "command_line.hpp"

#include <unistd.h>

#include "attn/run/training_command_line.hpp"
#include "papers/models.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Trains a Transformer, a Linformer or a recurrent model to translate, and scores it: BLEU on text
it has not seen. With no options: a corpus from a small grammar, a small Transformer, about two
minutes on two cores. With files of your own, line i of one the translation of line i of the other:

  wmt14_train --train-source train.en --train-target train.de \
    --test-source test.en --test-target test.de

What is not given follows from the text's size, and is printed. The output folder gets the best
model, with which `translate FOLDER` translates, a log, learning curves and the test's
translations; --resume goes on from its training.safetensors. With BART's tokenizer (--vocab,
--merges), --recipe paper and --model linformer32 it trains a model of the Linformer paper on WMT14.
)";

void check(const CLI::App& app, const Options& o) {
  check_options(o);
  if (papers::is_recurrent(o.model))
    for (const char* name : {"--size", "--norm", "--attention-dropout", "--activation-dropout", "--shared"})
      if (app.count(name) > 0)
        throw CLI::ValidationError(std::string(name) + " is an option of Transformers and Linformers, not of " + o.model);
}

/// Standard output, for lines of JSON; from now on words go to standard error.
std::ostream& output_of_json() {
  static std::ostream out(std::cout.rdbuf());
  std::cout.rdbuf(std::cerr.rdbuf());
  return out;
}

}  // namespace

Options read_options(int count, char** words) {
  Options o;
  o.output = "runs/wmt14";
  o.command = typed_command("wmt14_train", count, words);
  CLI::App app(about, "wmt14_train");
  app.set_config("--config", "", "Read options from a file: lines of name=value, named as here without the dashes");
  add_text_options(app, o);
  add_model_name(app, o);
  add_model_options(app, o);
  add_training_options(app, o);
  bool json = false;
  add_result_options(app, o);
  AddOptions{app, "Results"}(
      "--json", json, "Standard output gets the lines of log.jsonl as they are written, and standard error the words");
  read_command_line(app, count, words, [&] { check(app, o); });
  note_given(app, o);
  if (papers::is_recurrent(o.model)) o.shared = false;
  o.device.plans = o.output;
  if (json) o.json = &output_of_json();
  o.terminal = ::isatty(json ? STDERR_FILENO : STDOUT_FILENO) != 0;
  return o;
}
