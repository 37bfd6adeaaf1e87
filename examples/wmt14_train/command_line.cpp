#include "command_line.hpp"

#include <unistd.h>

#include "attn/models/recurrent_shape.hpp"
#include "common/training_command_line.hpp"

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

}  // namespace

Options read_options(int count, char** words) {
  Options o;
  o.output = "runs/wmt14";
  o.command = typed_command("wmt14_train", count, words);
  CLI::App app(about, "wmt14_train");
  app.set_config("--config", "", "Read options from a file with lines name=value, without the dashes");
  add_text_options(app, o);
  add_model_name(app, o);
  add_model_options(app, o);
  add_training_options(app, o);
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
