#include "options.hpp"

#include "attn/models/recurrent_shape.hpp"
#include "common/training_command_line.hpp"

using namespace attn;

void add_text_options(CLI::App& app, Options& o) {
  add_text_options(app, o.text);
  app.get_option("--train-source")
      ->description("Training text, one or more files, plain, .xz or .gz; default: the bundled corpus");
  AddOptions{app, "Text"}("--generated-pairs", o.generated_pairs, "Training pairs of the bundled corpus", whole_number(1));
  add_tokenizer_options(app, o.text);
}

void add_model_name(CLI::App& app, Options& o) {
  attn::add_model_name(app, o, {std::begin(recurrent_model_names), std::end(recurrent_model_names)})
      ->description("transformer, linformer32 (or any other k), or a recurrent model");
}

void add_training_options(CLI::App& app, Options& o) {
  AddOptions{app, "Training"}(
      "--recipe", o.recipe,
      "Defaults: for the size of the text (library), the same with longer training and a beam for large texts (best), "
      "or of the paper");
  attn::add_training_options(app, o);
}

void check_options(const CLI::App& app, Options& o) {
  if (o.bundled() && !(o.text.valid_source.empty() && o.text.test_source.empty()))
    throw CLI::ValidationError(
        "--valid-source and --test-source require a training text (--train-source or --shards): the bundled corpus has its "
        "own");
  if (!o.bundled() && o.generated_pairs)
    throw CLI::ValidationError(
        "--generated-pairs sets the size of the bundled corpus: it conflicts with --train-source and --shards");
  check_training_options(app, o);
}
