#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "attn/run/command_line.hpp"
#include "attn/run/training_options.hpp"

// The command line of a program that trains: groups of options, of which a program adds those that it wants, and what must fit
// together. Needs CLI11.
//
//     TrainingOptions options;
//     CLI::App app("Trains a model of mine", "mine");
//     add_text_options(app, options.text);
//     add_tokenizer_options(app, options.text);
//     add_model_options(app, options);
//     add_recipe_option(app, options);
//     add_training_options(app, options);
//     add_result_options(app, options);
//     read_command_line(app, count, words, [&] { check_training_options(options); });
//     note_given(app, options);

namespace attn {

inline void add_text_options(CLI::App& app, TextOptions& o) {
  const AddOptions add{app, "Text"};
  add("--train-source", o.train_source, "Training text, one file or several, plain, .xz or .gz", CLI::ExistingFile);
  add("--train-target", o.train_target, "Its translation, as many files", CLI::ExistingFile);
  add("--shards", o.shards, "Or training text that tokenize has made into shards: their folder", CLI::ExistingDirectory);
  add("--valid-source", o.valid_source, "Validation text; without it the last 1 % of the training text", CLI::ExistingFile);
  add("--valid-target", o.valid_target, "Its translation", CLI::ExistingFile);
  add("--test-source", o.test_source, "Text to translate at the end; without it the validation text", CLI::ExistingFile);
  add("--test-target", o.test_target, "Its translation, to score against", CLI::ExistingFile);
}

inline void add_tokenizer_options(CLI::App& app, TextOptions& o) {
  const AddOptions add{app, "Text"};
  add("--vocab", o.vocab, "Tokenizer: vocab.json of a byte-level BPE (GPT-2, BART); without it, learnt", CLI::ExistingFile);
  add("--merges", o.merges, "Tokenizer: its merges.txt", CLI::ExistingFile);
  add("--vocabulary", o.vocabulary, "Tokens to learn", whole_number(260));
}

namespace detail {

// The lists of options that a run's settings are made of: what is added here is read, shown by --help, and compared when a
// run goes on.

inline auto list_model_name(const auto& add, TrainingOptions& o, const std::vector<std::string>& more) {
  std::vector<std::string> names(sized_models.begin(), sized_models.end());
  names.insert(names.end(), more.begin(), more.end());
  const auto check = [names](const std::string& name) {
    std::string known;
    for (const std::string& one : names) known += "\n  " + one;
    return std::ranges::find(names, name) != names.end() || has_sizes(name) ? "" : "'" + name + "' is none of" + known;
  };
  return add("--model", o.model, "A model of the library, or one that this program adds to them",
             CLI::Validator(check, ""));
}

inline void list_model(const auto& add, TrainingOptions& o) {
  add("--size", o.size, "small: 2+2 layers of 128; medium: 4+4 of 256; base: 6+6 of 512; big: 6+6 of 1,024",
      CLI::IsMember({"small", "medium", "base", "big"}));
  add("--layers", o.layers, "Layers of encoder and decoder, such as 3+3, instead of those of --size",
      CLI::Validator([](const std::string& text) { return read_layers(text) ? "" : "two numbers such as 3+3 are needed"; },
                     ""));
  add("--width", o.width, "Width of the model, instead of that of --size", whole_number(1, 1 << 16));
  add("--heads", o.heads, "Attention heads, which divide the width, instead of those of --size", whole_number(1, 1 << 10));
  add("--inner", o.inner, "Width inside the feed-forward layers, instead of that of --size; 4 times --width",
      whole_number(1, 1 << 20));
  add("--norm", o.norm, "Where layers normalise: post, as the papers, or pre", CLI::IsMember({"post", "pre"}));
  add("--dropout", o.dropout, "Of embeddings and sub-layers, or states and contexts", number(0, 0.99));
  add("--attention-dropout", o.attention_dropout, "Of attention weights", number(0, 0.99));
  add("--activation-dropout", o.activation_dropout, "Inside the feed-forward layers", number(0, 0.99));
  add("--shared,!--not-shared", o.shared, "One table for both embeddings and the output");
  add("--truncate", o.text.truncate, "Tokens of a sentence that are kept, its end included; a Linformer allows 256",
      whole_number(2, 1 << 20));
}

inline void list_training(const auto& add, TrainingOptions& o) {
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

inline void list_optimiser(const auto& add, TrainingOptions& o) {
  add("--schedule", o.schedule, "How the learning rate goes",
      CLI::IsMember({"inverse-sqrt", "warmup-cosine", "step", "constant"}));
  add("--rate", o.rate, "Learning rate at its peak", positive_number());
  add("--warmup", o.warmup, "Steps until the peak; for the schedule 'step', steps between halvings", whole_number(1));
  add("--clip", o.clip, "Largest norm of a step's gradients; 0: any", number(0, 1e9));
  add("--weight-decay", o.weight_decay, "Decoupled (AdamW); biases and norms do not decay", number(0, 1));
  add("--amsgrad", o.amsgrad, "Adam divides by the largest second moment so far");
  add("--freeze", o.freeze,
      "Do not train these parameters: the name of a layer such as encoder or decoder.layers.0, where * stands for any one "
      "part; can be given several times");
  add("--average-decay", o.average_decay,
      "The model is the exponential moving average of the weights; 0.999 follows about 1,000 steps, 0: no average",
      number(0, 0.9999999));
}

inline void list_validation(const auto& add, TrainingOptions& o) {
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

inline void list_settings(const auto& add, TrainingOptions& o) {
  list_model_name(add, o, {});
  list_model(add, o);
  list_training(add, o);
  list_optimiser(add, o);
  list_validation(add, o);
}

}  // namespace detail

/// --model: one of sized_models, or of `more`, names of the registry.
inline CLI::Option* add_model_name(CLI::App& app, TrainingOptions& o, const std::vector<std::string>& more = {}) {
  return detail::list_model_name(AddOptions{app, "Model"}, o, more);
}

inline void add_model_options(CLI::App& app, TrainingOptions& o) { detail::list_model(AddOptions{app, "Model"}, o); }

/// --recipe: library or best, as run/training_recipe.hpp has them, or one of `more`, which the program has.
inline CLI::Option* add_recipe_option(CLI::App& app, TrainingOptions& o, const std::vector<std::string>& more = {}) {
  std::vector<std::string> names{"library", "best"};
  names.insert(names.end(), more.begin(), more.end());
  return AddOptions{app, "Training"}(
      "--recipe", o.recipe,
      "What is not given follows from the text's size (library), with a beam and more time for large ones (best)",
      CLI::IsMember(names));
}

/// Those of training, optimiser, validation and device.
inline void add_training_options(CLI::App& app, TrainingOptions& o) {
  const AddOptions optimiser{app, "Optimiser"};
  detail::list_training(AddOptions{app, "Training"}, o);
  detail::list_optimiser(optimiser, o);
  optimiser("--bad-numbers", o.bad_numbers, "Gradients that are not finite: stop the training, or skip their step",
            CLI::IsMember({"stop", "skip"}));
  optimiser("--shard-optimiser", o.shard_optimiser, "On several ranks: each keeps a part of the optimiser's state");
  optimiser("--sums", o.sums, "On several ranks: gradients are added up on GPUs by NCCL, or through the host",
            CLI::IsMember({"auto", "nccl", "host"}));
  optimiser("--sums-after", o.sums_after, "On several ranks: sums begin after the backward pass, to compare");
  detail::list_validation(AddOptions{app, "Validation"}, o);
  add_device_options(app, o.device);
}

inline void add_result_options(CLI::App& app, TrainingOptions& o) {
  const AddOptions add{app, "Results"};
  add("--start-from", o.start_from, "Folder of a run whose weights and tokenizer this one begins with (fine-tuning)",
      CLI::ExistingDirectory);
  add("--output", o.output, "Folder for what it writes")->capture_default_str();
  add("--resume", o.resume, "Go on with the run in the output folder");
  add("--overwrite", o.overwrite, "Replace the run in the output folder");
  add("--limit", o.limit, "Tokens of a translation", whole_number(1, 100'000));
}

/// What must fit together; throws CLI::ValidationError.
inline void check_training_options(const TrainingOptions& o) {
  const TextOptions& text = o.text;
  const auto refuse = [](bool wrong, const std::string& why) {
    if (wrong) throw CLI::ValidationError(why);
  };
  const auto together = [&](const auto& a, const auto& b, const std::string& names) {
    refuse(a.empty() != b.empty(), names + " go together: give both, or neither");
  };
  refuse(text.train_source.size() != text.train_target.size(),
         "--train-source and --train-target go together: as many files of each");
  refuse(!text.shards.empty() && !(text.train_source.empty() && text.vocab.empty() && text.vocabulary == 0),
         "--shards bring text and tokenizer: leave --train-source, --vocab and --vocabulary out");
  together(text.valid_source, text.valid_target, "--valid-source and --valid-target");
  together(text.test_source, text.test_target, "--test-source and --test-target");
  together(text.vocab, text.merges, "--vocab and --merges");
  refuse(!text.vocab.empty() && text.vocabulary != 0,
         "--vocab and --merges have a vocabulary, so --vocabulary cannot be given with them");
  const std::string batch = std::to_string(o.batch);
  refuse(o.batch >= 1000 && o.batch_unit.empty(),
         "--batch " + batch + " alone would be " + batch +
             " sentences: add --batch-unit tokens, or --batch-unit sentences if these are meant");
  refuse(o.device.tf32 && o.device.precision != "float", "--tf32 goes with --precision float");
  const bool linformer = has_sizes(o.model) && o.model != "transformer";
  refuse(linformer && text.truncate > 256, "--truncate is at most 256 for a Linformer");
  const auto shape = o.shape();
  refuse(shape && shape->width % shape->heads != 0, "--width " + std::to_string(shape ? shape->width : 0) +
                                                        " is not a multiple of --heads " +
                                                        std::to_string(shape ? shape->heads : 0));
  refuse(shape && shape->width % 2 != 0, "--width must be even: sinusoidal positions come in pairs");
  refuse(o.own_shape() && !has_sizes(o.model), "--layers, --width, --heads and --inner are for transformer and linformerK");
  refuse(o.resume && o.overwrite, "--resume goes on with a run, --overwrite replaces it: give one");
  refuse(!o.start_from.empty() && o.resume, "--resume goes on with a run, --start-from begins one: give one");
  refuse(!o.start_from.empty() && !(text.vocab.empty() && text.vocabulary == 0),
         "--start-from has a tokenizer, so --vocab, --merges and --vocabulary cannot be given with it");
}

/// Fills in which options the command line has, once it is read.
inline void note_given(const CLI::App& app, TrainingOptions& o) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) o.given.insert(option->get_lnames().at(0));
}

/// All options of the model and the training by name, as text: what a run that goes on must have in common with the one that
/// was stopped.
inline Metadata settings_of(TrainingOptions o) {
  Metadata settings;
  detail::list_settings(NoteSettings{settings}, o);
  return settings;
}

/// Those of them that were given or suggested, in one line, for people.
inline std::string describe(TrainingOptions o) {
  std::string line;
  const auto add = [&](const std::string& names, const auto& value, const auto&...) {
    Metadata noted;
    NoteSettings{noted}(names, value);
    const auto& [name, text] = *noted.begin();
    if (!o.given.contains(name) && !o.suggested.contains(name)) return;
    if constexpr (std::is_same_v<decltype(value), const std::vector<std::string>&>) {
      for (const std::string& one : value) line += (line.empty() ? "--" : " --") + name + " " + one;
      return;
    }
    line += (line.empty() ? "--" : " --") + name;
    if (text != "true") line += (text == "false" ? "=" : " ") + text;
  };
  detail::list_settings(add, o);
  return line;
}

}  // namespace attn
