#include "options.hpp"

#include "attn/run/command_line.hpp"
#include "papers/models.hpp"

using namespace attn;

void add_text_options(CLI::App& app, Options& o) {
  const AddOptions add{app, "Text"};
  add("--train-source", o.train_source,
      "Training text, one file or several, plain, .xz or .gz; without it the bundled corpus", CLI::ExistingFile);
  add("--train-target", o.train_target, "Its translation, as many files", CLI::ExistingFile);
  add("--shards", o.shards, "Or training text that tokenize has made into shards: their folder", CLI::ExistingDirectory);
  add("--valid-source", o.valid_source, "Validation text; without it the last 1 % of the training text", CLI::ExistingFile);
  add("--valid-target", o.valid_target, "Its translation", CLI::ExistingFile);
  add("--test-source", o.test_source, "Text to translate at the end; without it the validation text", CLI::ExistingFile);
  add("--test-target", o.test_target, "Its translation, to score against", CLI::ExistingFile);
  add("--generated-pairs", o.generated_pairs, "Training pairs of the bundled corpus", whole_number(1));
  add("--vocab", o.vocab, "Tokenizer: vocab.json of a byte-level BPE (GPT-2, BART); without it, learnt", CLI::ExistingFile);
  add("--merges", o.merges, "Tokenizer: its merges.txt", CLI::ExistingFile);
  add("--vocabulary", o.vocabulary, "Tokens to learn", whole_number(260));
}

namespace {

CLI::Validator known_model() {
  std::vector<std::string> names{"transformer", "linformer32", "linformer64", "linformer128"};
  names.insert(names.end(), papers::model_names().begin(), papers::model_names().end());
  const auto check = [names](const std::string& name) {
    std::string known;
    for (const std::string& one : names) known += "\n  " + one;
    return std::find(names.begin(), names.end(), name) != names.end() ? "" : "'" + name + "' is none of" + known;
  };
  return {check, ""};
}

// The lists of options that a run's settings are made of: what is added here is read, shown by --help, and compared when a
// run goes on.

void list_name(const auto& add, Options& o) {
  add("--model", o.model, "transformer, linformer32, linformer64, linformer128, or a recurrent one", known_model());
}

void list_model(const auto& add, Options& o) {
  add("--size", o.size, "small: 2+2 layers of 128; medium: 4+4 of 256; base: 6+6 of 512; big: 6+6 of 1,024",
      CLI::IsMember({"small", "medium", "base", "big"}));
  add("--norm", o.norm, "Where layers normalise: post, as the papers, or pre", CLI::IsMember({"post", "pre"}));
  add("--dropout", o.dropout, "Of embeddings and sub-layers, or states and contexts", number(0, 0.99));
  add("--attention-dropout", o.attention_dropout, "Of attention weights", number(0, 0.99));
  add("--activation-dropout", o.activation_dropout, "Inside the feed-forward layers", number(0, 0.99));
  add("--shared,!--not-shared", o.shared, "One table for both embeddings and the output");
  add("--truncate", o.truncate, "Tokens of a sentence that are kept, its end included; a Linformer allows 256",
      whole_number(2, 1 << 20));
}

void list_training(const auto& add, Options& o) {
  add("--epochs", o.epochs, "Passes over the training text", whole_number(1));
  add("--batch", o.batch, "Size of a batch", whole_number(1));
  add("--batch-unit", o.batch_unit, "What a batch's size counts; sentences where --batch alone is given",
      CLI::IsMember({"sentences", "tokens"}));
  add("--order", o.order, "pooled: batches of similar length", CLI::IsMember({"pooled", "shuffled", "sequential"}));
  add("--accumulate", o.accumulate, "Batches a step", whole_number(1));
  add("--smoothing", o.smoothing, "Of labels", number(0, 0.99));
  add("--smoothing-over", o.smoothing_over, "What gets the rest: all tokens, or all others",
      CLI::IsMember({"all", "others"}));
  add("--seed", o.seed, "The same seed gives the same bits", whole_number(0));
}

void list_optimiser(const auto& add, Options& o) {
  add("--schedule", o.schedule, "How the learning rate goes",
      CLI::IsMember({"inverse-sqrt", "warmup-cosine", "step", "constant"}));
  add("--rate", o.rate, "Learning rate at its peak", positive_number());
  add("--warmup", o.warmup, "Steps until the peak; for the schedule 'step', steps between halvings", whole_number(1));
  add("--clip", o.clip, "Largest norm of a step's gradients; 0: any", number(0, 1e9));
  add("--weight-decay", o.weight_decay, "Decoupled (AdamW)", number(0, 1));
  add("--amsgrad", o.amsgrad, "Adam divides by the largest second moment so far");
  add("--average-decay", o.average_decay,
      "The model is the exponential moving average of the weights; 0.999 follows about 1,000 steps, 0: no average",
      number(0, 0.9999999));
}

void list_validation(const auto& add, Options& o) {
  add("--validate-every", o.validate_every, "Steps between validations; 0: after each epoch", whole_number(0));
  add("--validate-with", o.validate_with,
      "What tells the best model: the loss, or BLEU of translations of the first 1,000 validation sentences",
      CLI::IsMember({"loss", "bleu"}));
  add("--average-best", o.average_best, "At the end the mean of so many best models, where it validates better; 0: none",
      whole_number(0, 100));
  add("--patience", o.patience, "Validations without improvement until it stops; 0: never", whole_number(0));
  add("--test-beam", o.test_beam, "Live hypotheses of a sentence when the test is translated at the end; 1: greedy",
      whole_number(1, 1000));
}

void list_settings(const auto& add, Options& o) {
  list_name(add, o);
  list_model(add, o);
  list_training(add, o);
  list_optimiser(add, o);
  list_validation(add, o);
}

}  // namespace

void add_model_name(CLI::App& app, Options& o) { list_name(AddOptions{app, "Model"}, o); }

void add_model_options(CLI::App& app, Options& o) { list_model(AddOptions{app, "Model"}, o); }

void add_training_options(CLI::App& app, Options& o) {
  const AddOptions training{app, "Training"}, optimiser{app, "Optimiser"};
  training(
      "--recipe", o.recipe,
      "What is not given follows from the text's size (library), with a beam and more time for large ones (best), or is "
      "the paper's",
      CLI::IsMember({"library", "best", "paper"}));
  list_training(training, o);
  list_optimiser(optimiser, o);
  optimiser("--bad-numbers", o.bad_numbers, "Gradients that are not finite: stop the training, or skip their step",
            CLI::IsMember({"stop", "skip"}));
  optimiser("--shard-optimiser", o.shard_optimiser, "On several ranks: each keeps a part of the optimiser's state");
  optimiser("--sums", o.sums, "On several ranks: gradients are added up on GPUs by NCCL, or through the host",
            CLI::IsMember({"auto", "nccl", "host"}));
  optimiser("--sums-after", o.sums_after, "On several ranks: sums begin after the backward pass, to compare");
  list_validation(AddOptions{app, "Validation"}, o);
  add_device_options(app, o.device);
}

void check_options(const Options& o) {
  const auto together = [](bool a, bool b, const char* names) {
    if (a != b) throw CLI::ValidationError(std::string(names) + " go together: give both, or neither");
  };
  if (o.train_source.size() != o.train_target.size())
    throw CLI::ValidationError("--train-source and --train-target go together: as many files of each");
  if (!o.shards.empty() && !(o.train_source.empty() && o.vocab.empty() && o.vocabulary == 0))
    throw CLI::ValidationError("--shards bring text and tokenizer: leave --train-source, --vocab and --vocabulary out");
  together(o.valid_source.empty(), o.valid_target.empty(), "--valid-source and --valid-target");
  together(o.test_source.empty(), o.test_target.empty(), "--test-source and --test-target");
  together(o.vocab.empty(), o.merges.empty(), "--vocab and --merges");
  if (o.bundled() && !(o.valid_source.empty() && o.test_source.empty()))
    throw CLI::ValidationError(
        "the bundled corpus has its own validation and test texts: give a training text too "
        "(--train-source or --shards), or leave --valid-source and --test-source out");
  if (!o.bundled() && o.generated_pairs)
    throw CLI::ValidationError(
        "--generated-pairs is the size of the bundled corpus: leave it out, or the training text (--train-source, "
        "--shards)");
  if (o.batch >= 1000 && o.batch_unit.empty())
    throw CLI::ValidationError("--batch " + std::to_string(o.batch) + " alone would be " + std::to_string(o.batch) +
                               " sentences: add --batch-unit tokens, or --batch-unit sentences if these are meant");
  if (o.device.tf32 && o.device.precision != "float") throw CLI::ValidationError("--tf32 goes with --precision float");
  if (o.model.starts_with("linformer") && o.truncate > 256)
    throw CLI::ValidationError("--truncate is at most 256 for a Linformer");
  if (o.model.starts_with("linformer") && (o.size == "medium" || o.size == "big"))
    throw CLI::ValidationError("a Linformer is small or base");
}

void note_given(const CLI::App& app, Options& o) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) o.given.insert(option->get_lnames().at(0));
}

std::string Options::model_name() const {
  return papers::is_recurrent(model) ? model : model + "-" + size + (norm == "pre" ? "-pre" : "");
}

Metadata Options::settings() const {
  Metadata settings;
  Options values = *this;
  list_settings(NoteSettings{settings}, values);
  return settings;
}

std::string Options::describe() const {
  std::string line;
  Options values = *this;
  const auto add = [&](const std::string& names, const auto& value, const auto&...) {
    Metadata noted;
    NoteSettings{noted}(names, value);
    const auto& [name, text] = *noted.begin();
    if (!given.contains(name) && !suggested.contains(name)) return;
    line += (line.empty() ? "--" : " --") + name;
    if (text != "true") line += (text == "false" ? "=" : " ") + text;
  };
  list_settings(add, values);
  return line;
}
