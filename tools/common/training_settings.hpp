#pragma once
#include <ostream>

#include "attn/core/format_count.hpp"
#include "attn/run/model_spec.hpp"
#include "attn/run/training_run.hpp"
#include "attn/train/terminal.hpp"
#include "common/event_log.hpp"
#include "common/stop_signal.hpp"
#include "common/training_corpus.hpp"
#include "common/training_options.hpp"

// The config and the training of a run, from the options of a training program.

namespace attn {

inline ModelSpec model_spec(const TrainingOptions& options, const TrainingCorpus& corpus) {
  const bool shared = options.shared && !corpus.separate_vocabularies();
  return {.name = options.model_name(),
          .source_vocabulary = corpus.tokenizers.source.padded_size(),
          .target_vocabulary = corpus.tokenizers.target.padded_size(),
          .dropout = options.dropout,
          .attention_dropout = options.attention_dropout,
          .activation_dropout = options.activation_dropout,
          .share_embeddings = shared,
          .tie_output = shared,
          .shape = options.shape(),
          .recurrent_shape = options.recurrent_shape()};
}

/// The config of a run: its settings plus fingerprints of its texts and the run it started from. A resumed run, with config
/// `before`, keeps that start and its vocabularies. Separate vocabularies have separate tables.
inline RunConfig run_config(const TrainingOptions& options, const TrainingCorpus& corpus, Metadata settings,
                            const std::optional<RunConfig>& before = {}) {
  const auto& [source, target] = corpus.tokenizers;
  const bool separate = corpus.separate_vocabularies();
  require(!before || separate || !options.text.separate_vocabularies, "cannot resume ", options.output.string(),
          ": it has one vocabulary for both languages. Omit --separate-vocabularies, or choose another folder.");
  require(!separate || !options.shared || !options.given.contains("shared"),
          "--shared conflicts with one vocabulary per language. Omit --shared.");
  settings["separate-vocabularies"] = separate ? "true" : "false";
  if (separate) settings["shared"] = "false";
  settings["tokenizer"] = std::to_string(source.hash());
  if (separate) settings["target tokenizer"] = std::to_string(target.hash());
  settings["training text"] = std::to_string(corpus.training_hash());
  settings["validation text"] = std::to_string(corpus.validation_hash());
  const TextOptions& text = options.text;
  const bool learns = text.vocab.empty() && text.shards.empty() && options.start_from.empty();
  if (learns && (!before || before->settings.contains("vocabulary")))
    settings["vocabulary"] = std::to_string(text.vocabulary);
  if (!options.start_from.empty()) settings["start-from"] = options.start_from.string();
  if (before && before->settings.contains("start-from")) settings["start-from"] = before->settings.at("start-from");
  RunConfig config{model_spec(options, corpus), source, target};
  config.truncate = options.text.kept_tokens();
  config.limit = options.limit;
  config.settings = std::move(settings);
  config.seed = options.train.seed;
  const auto name = [](const std::filesystem::path& path) { return path.filename().string(); };
  config.about["text"] = !text.shards.empty()        ? name(text.shards)
                         : text.train_source.empty() ? ""
                                                     : name(text.train_source[0]);
  config.about["validation"] = name(text.valid_source);
  config.about["test"] = name(text.test_source);
  return config;
}

/// A training that prints progress to `out` and ends at a stop signal. `options` and `out` must outlive it.
inline TrainingRun training_run(const TrainingOptions& options, const TrainingCorpus& corpus, const Metadata& settings,
                                std::ostream& out) {
  TrainingRun run{
      .folder = options.output,
      .training = corpus.training(),
      .validation = corpus.validation(),
      .special_tokens = special_tokens_of(corpus.tokenizers.source, corpus.tokenizers.target),
      .batches = options.batches,
      .validation_batches = {.size = options.batches.size, .unit = options.batches.unit, .order = BatchOrder::pooled},
      .adam = options.adam,
      .train = options.train,
      .schedule =
          [&options, &out](Index steps, Index width) {
            if (options.schedule.warmup >= steps && warms_up(options.schedule.kind))
              out << "warning: the training ends before the warm-up of " << counted(options.schedule.warmup, "step")
                  << ". Use more --epochs, a smaller --batch or a shorter --warmup." << std::endl;
            return make_schedule(options.schedule, steps, width);
          },
      .average_decay = options.average_decay,
      .average_best = options.average_best,
      .title = options.model_name(),
      .metadata = settings,
      .resume = options.resume,
      .parallel = options.parallel,
      .print = [&out](const std::string& text) { out << text << std::endl; },
      .log_line = [log = EventLog{options.output, options.json}](const std::string& line) { log.print(line); },
      .progress = [&out, terminal = options.terminal](
                      Index step, Index steps) { return std::make_unique<TerminalCallback>(out, terminal, steps, step); }};
  run.batches.seed = options.train.seed;
  run.train.stop = [] { return stop_signal() != 0; };
  return run;
}

}  // namespace attn
