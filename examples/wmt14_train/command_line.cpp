#include "command_line.hpp"

#include "attn/run/command_line.hpp"
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
  if (o.resume && o.overwrite) throw CLI::ValidationError("--resume goes on with a run, --overwrite replaces it: give one");
  if (!o.start_from.empty() && (!o.vocab.empty() || o.resume))
    throw CLI::ValidationError(o.resume ? "--resume goes on with a run, --start-from begins one: give one"
                                        : "--start-from has a tokenizer, so --vocab and --merges cannot be given with it");
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
  o.command = "wmt14_train";
  for (int i = 1; i < count; ++i) o.command += std::string(" ") + words[i];
  CLI::App app(about, "wmt14_train");
  app.set_config("--config", "", "Read options from a file: lines of name=value, named as here without the dashes");
  add_text_options(app, o);
  add_model_name(app, o);
  add_model_options(app, o);
  add_training_options(app, o);
  bool json = false;
  const AddOptions add{app, "Results"};
  add("--start-from", o.start_from, "Folder of a run whose weights and tokenizer this one begins with (fine-tuning)",
      CLI::ExistingDirectory);
  add("--output", o.output, "Folder for what it writes")->capture_default_str();
  add("--resume", o.resume, "Go on with the run in the output folder");
  add("--overwrite", o.overwrite, "Replace the run in the output folder");
  add("--limit", o.limit, "Tokens of a translation", whole_number(1, 100'000));
  add("--json", json, "Standard output gets the lines of log.jsonl as they are written, and standard error the words");
  read_command_line(app, count, words, [&] { check(app, o); });
  note_given(app, o);
  if (papers::is_recurrent(o.model)) o.shared = false;
  o.device.plans = o.output;
  if (json) o.json = &output_of_json();
  return o;
}
