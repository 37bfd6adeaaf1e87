#include "options.hpp"

#include "attn/run/training_command_line.hpp"
#include "papers/models.hpp"

using namespace attn;

void add_text_options(CLI::App& app, Options& o) {
  add_text_options(app, o.text);
  app.get_option("--train-source")
      ->description("Training text, one file or several, plain, .xz or .gz; without it the bundled corpus");
  AddOptions{app, "Text"}("--generated-pairs", o.generated_pairs, "Training pairs of the bundled corpus", whole_number(1));
  add_tokenizer_options(app, o.text);
}

void add_model_name(CLI::App& app, Options& o) {
  attn::add_model_name(app, o, papers::model_names())
      ->description("transformer, linformer32 (or any other k), or a recurrent one");
}

void add_training_options(CLI::App& app, Options& o) {
  add_recipe_option(app, o, {"paper"})
      ->description(
          "What is not given follows from the text's size (library), with a beam and more time for large ones (best), "
          "or is the paper's");
  attn::add_training_options(app, o);
}

void check_options(const Options& o) {
  if (o.bundled() && !(o.text.valid_source.empty() && o.text.test_source.empty()))
    throw CLI::ValidationError(
        "the bundled corpus has its own validation and test texts: give a training text too "
        "(--train-source or --shards), or leave --valid-source and --test-source out");
  if (!o.bundled() && o.generated_pairs)
    throw CLI::ValidationError(
        "--generated-pairs is the size of the bundled corpus: leave it out, or the training text (--train-source, "
        "--shards)");
  check_training_options(o);
}
