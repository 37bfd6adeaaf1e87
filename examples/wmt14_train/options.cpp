#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

Options read_options(int count, char** words) {
  Options o;
  CLI::App app(
      "Trains a Transformer, a Linformer or a recurrent model to translate, and says how well it does (BLEU on text it has "
      "not seen).\n\n"
      "With no options: a corpus of English and German sentences from a small grammar, a small Transformer, about two "
      "minutes\n"
      "on two cores. With files of your own, one sentence a line, line i of one the translation of line i of the other:\n\n"
      "  wmt14_train --train-source train.en --train-target train.de --test-source test.en --test-target test.de\n\n"
      "The experiment of the Linformer paper on WMT14 is\n\n"
      "  wmt14_train --train-source train.en --train-target train.de --test-source newstest2014.en --test-target "
      "newstest2014.de \\\n"
      "    --vocab vocab.json --merges merges.txt --size base --model linformer32 --epochs 10 --batch 88 --order shuffled "
      "\\\n"
      "    --schedule warmup-cosine --rate 1e-4 --warmup 4000 --smoothing 0\n\n"
      "The output folder gets the best model (model.safetensors), all it takes to go on (training.safetensors, see "
      "--resume), the\n"
      "tokenizer, a log (log.jsonl), learning curves (curve.svg) and the test's translations (translations.txt).\n\n"
      "Defaults with the bundled corpus: --vocabulary 1000 --epochs 2 --validate-every 200 --dropout 0.\n");
  app.set_config("--config", "", "Read options from a file: lines of name=value, named as below without the dashes");
  app.option_defaults()->always_capture_default();

  const auto* text = "Text";
  app.add_option("--train-source", o.train_source, "Training text; without it the bundled corpus")
      ->group(text)
      ->check(CLI::ExistingFile);
  app.add_option("--train-target", o.train_target, "Its translation")->group(text)->check(CLI::ExistingFile);
  app.add_option("--valid-source", o.valid_source, "Validation text; without it the last 1 % of the training text")
      ->group(text)
      ->check(CLI::ExistingFile);
  app.add_option("--valid-target", o.valid_target, "Its translation")->group(text)->check(CLI::ExistingFile);
  app.add_option("--test-source", o.test_source, "Text to translate at the end; without it the validation text")
      ->group(text)
      ->check(CLI::ExistingFile);
  app.add_option("--test-target", o.test_target, "Its translation, to score against")
      ->group(text)
      ->check(CLI::ExistingFile);
  app.add_option("--generated-pairs", o.generated_pairs, "Training pairs of the bundled corpus")
      ->group(text)
      ->check(CLI::PositiveNumber);
  app.add_option("--truncate", o.truncate,
                 "Tokens of a sentence that are kept, its end mark included; a Linformer allows 256")
      ->group(text)
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--vocab", o.vocab, "Tokenizer: vocab.json of a byte-level BPE (GPT-2, BART); without it, learnt")
      ->group(text)
      ->check(CLI::ExistingFile);
  app.add_option("--merges", o.merges, "Tokenizer: its merges.txt")->group(text)->check(CLI::ExistingFile);
  app.add_option("--vocabulary", o.vocabulary, "Tokens to learn")->group(text)->check(CLI::PositiveNumber);

  const auto* model = "Model";
  std::vector<std::string> names = transformer_names;
  names.insert(names.end(), recurrent_names.begin(), recurrent_names.end());
  app.add_option("--model", o.model, "What to train; a recurrent model has its paper's size")
      ->group(model)
      ->check(CLI::IsMember(names));
  app.add_option(
         "--size", o.size,
         "Of a Transformer or Linformer. small: 2+2 layers, width 128, 2 heads. base: 6+6 layers, width 512, 8 heads")
      ->group(model)
      ->check(CLI::IsMember({"small", "base"}));
  app.add_option("--dropout", o.dropout, "Of embeddings and sub-layers, or states and contexts")
      ->group(model)
      ->check(CLI::Range(0.0, 0.99));
  app.add_option("--attention-dropout", o.attention_dropout, "Of attention weights")
      ->group(model)
      ->check(CLI::Range(0.0, 0.99));
  app.add_option("--activation-dropout", o.activation_dropout, "Inside the feed-forward layers")
      ->group(model)
      ->check(CLI::Range(0.0, 0.99));
  app.add_flag("--shared,!--not-shared", o.shared, "One table for both embeddings and the output")->group(model);

  const auto* training = "Training";
  app.add_option("--epochs", o.epochs, "Passes over the training text")->group(training)->check(CLI::PositiveNumber);
  app.add_option("--batch", o.batch, "Size of a batch")->group(training)->check(CLI::PositiveNumber);
  app.add_option("--batch-unit", o.batch_unit, "What a batch's size counts")
      ->group(training)
      ->check(CLI::IsMember({"sentences", "tokens"}));
  app.add_option("--order", o.order, "pooled: batches of similar length")
      ->group(training)
      ->check(CLI::IsMember({"pooled", "shuffled", "sequential"}));
  app.add_option("--accumulate", o.accumulate, "Batches a step")->group(training)->check(CLI::PositiveNumber);
  app.add_option("--schedule", o.schedule, "How the learning rate goes")
      ->group(training)
      ->check(CLI::IsMember({"inverse-sqrt", "warmup-cosine", "step", "constant"}));
  app.add_option("--rate", o.rate, "Learning rate at its peak")->group(training)->check(CLI::PositiveNumber);
  app.add_option("--warmup", o.warmup, "Steps until the peak; for the schedule 'step', steps between halvings")
      ->group(training)
      ->check(CLI::PositiveNumber);
  app.add_option("--smoothing", o.smoothing, "Of labels")->group(training)->check(CLI::Range(0.0, 0.99));
  app.add_option("--clip", o.clip, "Largest norm of a step's gradients; 0: any")
      ->group(training)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--weight-decay", o.weight_decay, "Decoupled (AdamW)")->group(training)->check(CLI::NonNegativeNumber);
  app.add_option("--validate-every", o.validate_every, "Steps between validations; 0: after each epoch")
      ->group(training)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--patience", o.patience, "Validations without improvement until it stops; 0: never")
      ->group(training)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", o.seed, "The same seed gives the same bits")->group(training);

  add_place_options(app, o);

  const auto* results = "Results";
  app.add_option("--output", o.output, "Folder for what it writes")->group(results);
  app.add_flag("--resume", o.resume, "Go on from the output folder's training.safetensors")->group(results);
  app.add_option("--limit", o.limit, "Tokens of a translation")->group(results)->check(CLI::PositiveNumber);

  try {
    app.parse(count, words);
    const auto together = [](const std::filesystem::path& a, const std::filesystem::path& b, const char* names) {
      if (a.empty() != b.empty()) throw CLI::ValidationError(std::string(names) + " go together: give both, or neither");
    };
    together(o.train_source, o.train_target, "--train-source and --train-target");
    together(o.valid_source, o.valid_target, "--valid-source and --valid-target");
    together(o.test_source, o.test_target, "--test-source and --test-target");
    together(o.vocab, o.merges, "--vocab and --merges");
    check_place_options(o);
    if (o.model.starts_with("linformer") && o.truncate > 256)
      throw CLI::ValidationError("--truncate is at most 256 for a Linformer");
    if (o.recurrent()) {
      for (const char* name : {"--size", "--attention-dropout", "--activation-dropout", "--shared"})
        if (app.count(name) > 0)
          throw CLI::ValidationError(std::string(name) + " is an option of Transformers and Linformers, not of " + o.model);
      o.size = "as in its paper";
      o.shared = false;
    }
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  // The bundled corpus is small, regular, and never seen often enough to be learnt by heart.
  const auto with_bundled = [&](const char* name, auto& value, auto better) {
    if (o.bundled() && app.count(name) == 0) value = better;
  };
  with_bundled("--vocabulary", o.vocabulary, 1000);
  with_bundled("--epochs", o.epochs, 2);
  with_bundled("--validate-every", o.validate_every, 200);
  with_bundled("--dropout", o.dropout, 0.0);
  return o;
}
