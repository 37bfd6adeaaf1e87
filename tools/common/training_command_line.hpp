#pragma once
#include "common/command_line.hpp"
#include "common/training_options.hpp"

// Command line of a training program: option groups that a program can combine, and checks for conflicting options. Needs
// CLI11.
//
//     TrainingOptions options;
//     CLI::App app("Trains a model of mine", "mine");
//     add_text_options(app, options.text);
//     add_tokenizer_options(app, options.text);
//     add_model_options(app, options);
//     add_training_options(app, options);
//     add_result_options(app, options);
//     read_command_line(app, count, words, [&] { check_training_options(app, options); });

namespace attn {

namespace detail {

// Options that form the settings of a run. The line of an option is all that the command line, --help, --config, model.json,
// recipes, and the check of a resumed run need.

inline void list_vocabulary(const auto& add, TextOptions& o) {
  add("--vocabulary", o.vocabulary, "Vocabulary size of the tokenizer to train", whole_number(260));
}

inline void list_vocabularies(const auto& add, TextOptions& o) {
  add("--separate-vocabularies", o.separate_vocabularies,
      "Train a tokenizer of --vocabulary tokens per language. Conflicts with --shared");
}

}  // namespace detail

inline void add_text_options(CLI::App& app, TextOptions& o) {
  const AddOptions add{app, "Text"};
  add("--train-source", o.train_source, "Training text: one or more files, plain, .xz or .gz", CLI::ExistingFile);
  add("--train-target", o.train_target, "Translation of the training text, one file per source file", CLI::ExistingFile);
  add("--shards", o.shards, "Folder of shards from tokenize, instead of --train-source", CLI::ExistingDirectory);
  add("--valid-source", o.valid_source, "Validation text. Default: the last 1 % of the training text", CLI::ExistingFile);
  add("--valid-target", o.valid_target, "Translation of the validation text", CLI::ExistingFile);
  add("--test-source", o.test_source, "Test text, scored after training. Default: the validation text", CLI::ExistingFile);
  add("--test-target", o.test_target, "Translation of the test text", CLI::ExistingFile);
}

inline void add_tokenizer_options(CLI::App& app, TextOptions& o) {
  const AddOptions add{app, "Text"};
  add("--vocab", o.vocab, "Tokenizer: vocab.json of a byte-level BPE (GPT-2, BART). Default: train one", CLI::ExistingFile);
  add("--merges", o.merges, "Tokenizer: merges.txt of the same BPE", CLI::ExistingFile);
  detail::list_vocabulary(add, o);
  detail::list_vocabularies(add, o);
}

namespace detail {

inline auto list_model_name(const auto& add, TrainingOptions& o, const std::vector<std::string>& more) {
  std::vector<std::string> names(sized_models.begin(), sized_models.end());
  names.insert(names.end(), more.begin(), more.end());
  const auto check = [names](const std::string& name) {
    std::string known;
    for (const std::string& one : names) known += "\n  " + one;
    return std::ranges::find(names, name) != names.end() || has_sizes(name) ? "" : "'" + name + "' is not one of" + known;
  };
  return add("--model", o.model, "transformer, linformer32 (or any other k), or a model of this program",
             CLI::Validator(check, ""));
}

inline void list_model(const auto& add, TrainingOptions& o) {
  add("--size", o.size, "small: 2+2 layers of 128; medium: 4+4 of 256; base: 6+6 of 512; big: 6+6 of 1,024");
  add("--layers", o.layers, "Encoder and decoder layers, e.g. 3+3; overrides --size",
      CLI::Validator([](const std::string& text) { return read_layers(text) ? "" : "not two numbers such as 3+3"; }, ""));
  add("--width", o.width, "Width of the model; overrides --size", whole_number(1, 1 << 16));
  add("--embedding", o.embedding, "Width of the embeddings of a recurrent model", whole_number(1, 1 << 16));
  add("--heads", o.heads, "Attention heads; must divide the width; overrides --size", whole_number(1, 1 << 10));
  add("--inner", o.inner, "Inner width of the feed-forward layers; overrides --size. Default: 4 times --width",
      whole_number(1, 1 << 20));
  add("--norm", o.norm, "Layer normalisation before (pre) or after (post) each sub-layer");
  add("--dropout", o.dropout, "Dropout of embeddings and sub-layers; in recurrent models, of states and contexts",
      number(0, 0.99));
  add("--attention-dropout", o.attention_dropout, "Dropout of attention weights", number(0, 0.99));
  add("--activation-dropout", o.activation_dropout, "Dropout inside the feed-forward layers", number(0, 0.99));
  add("--shared,!--not-shared", o.shared, "Share both embeddings and the output weights");
  add("--truncate", o.text.truncate, "Truncate sentences to N tokens, including the end token; at most 256 for a Linformer",
      whole_number(2, 1 << 20));
}

inline void list_training(const auto& add, TrainingOptions& o) {
  add("--epochs", o.train.epochs, "Epochs to train", whole_number(1));
  add("--batch", o.batches.size, "Batch size", whole_number(1));
  add("--batch-unit", o.batches.unit, "Unit of --batch. Default: sentences if --batch is set");
  add("--order", o.batches.order, "Order of sentences; pooled: batches of similar length");
  add("--accumulate", o.train.accumulate, "Batches per step", whole_number(1, 100'000));
  add("--smoothing", o.train.loss.amount, "Label smoothing", number(0, 0.99));
  add("--smoothing-over", o.train.loss.smoothing, "Tokens that share the smoothed probability");
  add("--mask-tokens", o.batches.mask_rate, "Probability to replace an input token by <unk> (word dropout)",
      number(0, 0.99));
  add("--seed", o.train.seed, "Random seed; the same seed gives the same bits", whole_number(0, INT64_MAX));
}

inline void list_optimiser(const auto& add, TrainingOptions& o) {
  add("--schedule", o.schedule.kind, "Learning rate schedule");
  add("--rate", o.schedule.rate, "Peak learning rate", positive_number());
  add("--warmup", o.schedule.warmup, "Warm-up steps; for the schedule 'step', steps between halvings", whole_number(1));
  add("--clip", o.adam.clip_norm, "Maximum gradient norm; 0: no clipping", number(0, 1e9));
  add("--weight-decay", o.adam.weight_decay, "Decoupled weight decay (AdamW), except of biases and norms", number(0, 1));
  add("--amsgrad", o.adam.amsgrad, "AMSGrad: divide by the largest second moment so far");
  add("--freeze", o.freeze,
      "Freeze the parameters of a layer, e.g. encoder or decoder.layers.0; * matches one part of a name. Repeat for "
      "several layers");
  add("--average-decay", o.average_decay,
      "Decay of the exponential moving average of the weights; 0.999 averages about 1,000 steps; 0: no average",
      number(0, 0.9999999));
}

inline void list_validation(const auto& add, TrainingOptions& o) {
  add("--validate-every", o.train.validate_every, "Steps between validations; 0: validate after each epoch",
      whole_number(0));
  add("--validate-with", o.train.best_by,
      "Criterion for the best model: the loss, or BLEU of the first 1,000 validation sentences");
  add("--average-best", o.average_best, "Average the N best models if that validates better; 0: off", whole_number(0, 100));
  add("--patience", o.train.patience, "Stop after this many validations without improvement; 0: never", whole_number(0));
  add("--test-beam", o.test_beam, "Beam size for the test; 1: greedy", whole_number(1, 1000));
}

inline void list_settings(const auto& add, TrainingOptions& o) {
  list_vocabularies(add, o.text);
  list_model_name(add, o, {});
  list_model(add, o);
  list_training(add, o);
  list_optimiser(add, o);
  list_validation(add, o);
}

}  // namespace detail

/// Adds --model: one of sized_models or a registry name in `more`.
inline CLI::Option* add_model_name(CLI::App& app, TrainingOptions& o, const std::vector<std::string>& more = {}) {
  return detail::list_model_name(AddOptions{app, "Model"}, o, more);
}

inline void add_model_options(CLI::App& app, TrainingOptions& o) { detail::list_model(AddOptions{app, "Model"}, o); }

/// Adds options for training, optimizer, validation and device.
inline void add_training_options(CLI::App& app, TrainingOptions& o) {
  const AddOptions optimiser{app, "Optimiser"};
  detail::list_training(AddOptions{app, "Training"}, o);
  detail::list_optimiser(optimiser, o);
  optimiser("--non-finite", o.train.non_finite, "If a gradient is not finite: stop, or skip the step");
  optimiser("--shard-optimiser", o.parallel.shard_optimiser, "On several ranks: shard the optimiser state");
  optimiser("--sums", o.sum_on, "On several ranks: add up gradients with NCCL, or through the host");
  optimiser("--sums-after{false}", o.parallel.overlap,
            "On several ranks: do not overlap sums and backward pass, for comparison");
  detail::list_validation(AddOptions{app, "Validation"}, o);
  add_device_options(app, o.device);
}

inline void add_result_options(CLI::App& app, TrainingOptions& o) {
  const AddOptions add{app, "Results"};
  add("--start-from", o.start_from, "Fine-tune the model of this run folder, with its tokenizer", CLI::ExistingDirectory);
  add("--output", o.output, "Output folder")->capture_default_str();
  add("--resume", o.resume, "Resume the run in the output folder");
  add("--overwrite", o.overwrite, "Replace the run in the output folder");
  add("--log-gradients", o.train.gradient_norms, "Log the gradient norm of each layer, before clipping");
  add("--limit", o.limit, "Maximum tokens per translation", whole_number(1, 100'000));
}

/// Records in o.given which options the parsed command line has, then checks for conflicts; throws CLI::ValidationError.
inline void check_training_options(const CLI::App& app, TrainingOptions& o) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) o.given.insert(option->get_lnames().at(0));
  const TextOptions& text = o.text;
  const bool learns = text.vocabulary != 0 || text.separate_vocabularies;
  const auto refuse = [](bool wrong, const std::string& why) {
    if (wrong) throw CLI::ValidationError(why);
  };
  const auto together = [&](const auto& a, const auto& b, const std::string& names) {
    refuse(a.empty() != b.empty(), names + " require each other");
  };
  refuse(text.train_source.size() != text.train_target.size(),
         "--train-source and --train-target need the same number of files");
  refuse(
      !text.shards.empty() && !(text.train_source.empty() && text.vocab.empty() && !learns),
      "--shards conflicts with --train-source, --vocab, --vocabulary and --separate-vocabularies: shards contain text and "
      "tokenizers");
  together(text.valid_source, text.valid_target, "--valid-source and --valid-target");
  together(text.test_source, text.test_target, "--test-source and --test-target");
  together(text.vocab, text.merges, "--vocab and --merges");
  refuse(!text.vocab.empty() && learns,
         "--vocabulary and --separate-vocabularies conflict with --vocab and --merges, which have a vocabulary");
  refuse(text.separate_vocabularies && o.shared && o.given.contains("shared"),
         "--separate-vocabularies conflicts with --shared, which is one embedding table for both languages");
  const std::string batch = std::to_string(o.batches.size);
  refuse(o.batches.size >= 1000 && !o.given.contains("batch-unit"),
         "--batch " + batch + " requires --batch-unit tokens or --batch-unit sentences");
  refuse(o.device.tf32 && o.device.precision != "float", "--tf32 requires --precision float");
  const bool linformer = has_sizes(o.model) && o.model != "transformer";
  refuse(linformer && text.truncate > 256, "--truncate must be at most 256 for a Linformer");
  const auto shape = o.shape();
  refuse(shape && shape->width % shape->heads != 0, "--width " + std::to_string(shape ? shape->width : 0) +
                                                        " is not a multiple of --heads " +
                                                        std::to_string(shape ? shape->heads : 0));
  refuse(shape && shape->width % 2 != 0, "--width must be even: sinusoidal positions come in pairs");
  refuse(o.own_shape() && !has_sizes(o.model) && !is_recurrent(o.model),
         "--layers, --width, --heads and --inner require a model whose sizes are given at run time, not " + o.model);
  refuse(o.embedding > 0 && !is_recurrent(o.model), "--embedding requires a recurrent model; set --width for the others");
  refuse(o.resume && o.overwrite, "--resume conflicts with --overwrite");
  refuse(!o.start_from.empty() && o.resume, "--resume conflicts with --start-from");
  refuse(!o.start_from.empty() && !(text.vocab.empty() && !learns),
         "--start-from conflicts with --vocab, --merges, --vocabulary and --separate-vocabularies: the run has tokenizers");
}

/// All model and training options as text by name, without the vocabulary's size. A resumed run must have the same settings.
inline Metadata settings_of(TrainingOptions o) {
  Metadata settings;
  detail::list_settings(NoteSettings{settings}, o);
  return settings;
}

/// Sets options from text by name. `where` begins the Error about a wrong value.
inline void read_settings(TrainingOptions& o, const Metadata& settings, const std::string& where) {
  const ReadSettings read{settings, where};
  detail::list_vocabulary(read, o.text);
  detail::list_settings(read, o);
}

/// The given and suggested options in one line, for display.
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
