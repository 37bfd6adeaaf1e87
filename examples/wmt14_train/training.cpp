#include "training.hpp"

#include <iostream>

#include "attn/models/recurrent_shape.hpp"
#include "common/commit.hpp"
#include "common/train_and_test.hpp"
#include "common/training_command_line.hpp"
#include "common/training_recipe.hpp"
#include "papers/grammar_corpus.hpp"

using namespace attn;

namespace {

const char* generated_recipe =
    "size=small norm=post vocabulary=1000 epochs=2 batch=64 batch-unit=sentences order=pooled schedule=warmup-cosine "
    "rate=0.002 warmup=200 dropout=0 validate-every=200 smoothing=0.1 average-best=0 test-beam=1";
const char* paper_recipe =
    "size=base norm=post vocabulary=32000 epochs=10 batch=88 batch-unit=sentences order=shuffled schedule=warmup-cosine "
    "rate=0.0001 warmup=4000 dropout=0.1 validate-every=0 smoothing=0 average-best=0 test-beam=1";

}  // namespace

void add_options(CLI::App& app, Options& o, bool with_model_name) {
  app.set_config("--config", "", "Read options from a file with lines name=value, without the dashes");
  add_text_options(app, o.text);
  app.get_option("--train-source")
      ->description("Training text, one or more files, plain, .xz or .gz; default: the bundled corpus");
  AddOptions{app, "Text"}("--generated-pairs", o.generated_pairs, "Training pairs of the bundled corpus", whole_number(1));
  add_tokenizer_options(app, o.text);
  if (with_model_name)
    add_model_name(app, o, {std::begin(recurrent_model_names), std::end(recurrent_model_names)})
        ->description("transformer, linformer32 (or any other k), or a recurrent model");
  add_model_options(app, o);
  AddOptions{app, "Training"}(
      "--recipe", o.recipe,
      "Defaults: for the size of the text (library), the same with longer training and a beam for large texts (best), "
      "or of the paper");
  add_training_options(app, o);
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

void apply_recipe(Options& o, Index pairs) {
  const TrainingRecipe library = o.bundled() ? TrainingRecipe{56'000, {}}.with(generated_recipe) : recipe_for(pairs);
  apply_recipe(o, o.recipe == RecipeKind::paper  ? TrainingRecipe{INT64_MAX, {}}.with(paper_recipe)
                  : o.recipe == RecipeKind::best ? best_of(library)
                                                 : library);
}

TrainingText read_texts(const Options& options) {
  if (!options.bundled()) return read_training_text(options.text, std::cout);
  papers::CorpusSplit split = papers::generate_split(options.generated_pairs.value_or(56'000), 500, 500, 1);
  return {std::move(split.train), std::move(split.validation), std::move(split.test)};
}

TrainingCorpus encode_texts(const Options& options, TrainingText& texts, std::optional<CorpusTokenizers> tokenizers,
                            Communicator& ranks) {
  return encode_training_text(options.text, texts, std::move(tokenizers), ranks, std::cout,
                              options.bundled() ? "bundled English-German corpus" : "corpus");
}

bool train(const Options& options, const TrainingText& texts, const TrainingCorpus& corpus,
           const std::optional<RunConfig>& before, Communicator& ranks) {
  RunConfig config = run_config(options, corpus, settings_of(options), before);
  config.commit = program_commit();
  config.about["command"] = before ? before->about.value("command", options.command) : options.command;
  if (before) config.about["resumed"] = options.command;
  return train_and_test(options, texts, corpus, config, ranks, std::cout);
}
