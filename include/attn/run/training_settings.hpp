#pragma once
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "attn/core/format_count.hpp"
#include "attn/optim/named_schedule.hpp"
#include "attn/run/event_log.hpp"
#include "attn/run/model_spec.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/run/training_corpus.hpp"
#include "attn/run/training_options.hpp"
#include "attn/run/training_run.hpp"
#include "attn/train/terminal.hpp"

// From the words of a command line to the settings of the library.

namespace attn {

inline ModelSpec model_spec(const TrainingOptions& options, const AnyTokenizer& tokenizer) {
  const Index vocabulary = tokenizer.padded_size();
  return {.name = options.model_name(),
          .source_vocabulary = vocabulary,
          .target_vocabulary = vocabulary,
          .dropout = options.dropout,
          .attention_dropout = options.attention_dropout,
          .activation_dropout = options.activation_dropout,
          .share_embeddings = options.shared,
          .tie_output = options.shared,
          .shape = options.shape()};
}

/// The card of a run with these settings (run/training_command_line.hpp), beside which stand the fingerprints of its texts and
/// the run that it started from; one that goes on, with the card `before`, started where that one did, with its vocabulary.
inline RunCard run_card(const TrainingOptions& options, const TrainingCorpus& corpus, Metadata settings,
                        const std::optional<RunCard>& before = {}) {
  settings["tokenizer"] = std::to_string(corpus.tokenizer.hash());
  settings["training text"] = std::to_string(corpus.training_hash());
  settings["validation text"] = std::to_string(corpus.validation_hash());
  const TextOptions& text = options.text;
  const bool learns = text.vocab.empty() && text.shards.empty() && options.start_from.empty();
  if (learns && (!before || before->settings.contains("vocabulary")))
    settings["vocabulary"] = std::to_string(text.vocabulary);
  if (!options.start_from.empty()) settings["start-from"] = options.start_from.string();
  if (before && before->settings.contains("start-from")) settings["start-from"] = before->settings.at("start-from");
  RunCard card{model_spec(options, corpus.tokenizer), corpus.tokenizer, corpus.tokenizer};
  card.truncate = options.text.kept_tokens();
  card.limit = options.limit;
  card.settings = std::move(settings);
  card.seed = options.seed;
  const auto name = [](const std::filesystem::path& path) { return path.filename().string(); };
  card.about["text"] = !text.shards.empty()        ? name(text.shards)
                       : text.train_source.empty() ? ""
                                                   : name(text.train_source[0]);
  card.about["validation"] = name(text.valid_source);
  card.about["test"] = name(text.test_source);
  return card;
}

/// The training, which shows on a stream how it goes and ends at a stop signal. Options and stream must outlive it.
inline TrainingRun training_run(const TrainingOptions& options, const TrainingCorpus& corpus, const Metadata& settings,
                                std::ostream& out) {
  const BatchUnit unit = options.batch_unit == "tokens" ? BatchUnit::tokens : BatchUnit::sentences;
  const BatchOrder order = options.order == "pooled"     ? BatchOrder::pooled
                           : options.order == "shuffled" ? BatchOrder::shuffled
                                                         : BatchOrder::sequential;
  return {
      .folder = options.output,
      .training = corpus.training(),
      .validation = corpus.validation(),
      .special_tokens = special_tokens_of(corpus.tokenizer, corpus.tokenizer),
      .batches = {.size = options.batch, .unit = unit, .order = order, .seed = options.seed},
      .validation_batches = {.size = options.batch, .unit = unit, .order = BatchOrder::pooled},
      .adam = {.beta2 = 0.98,
               .epsilon = 1e-9,
               .weight_decay = options.weight_decay,
               .amsgrad = options.amsgrad,
               .clip_norm = options.clip},
      .train = {.epochs = options.epochs,
                .accumulate = options.accumulate,
                .loss = {.smoothing = options.smoothing_over == "all" ? Smoothing::uniform : Smoothing::others,
                         .amount = static_cast<float>(options.smoothing)},
                .seed = options.seed,
                .validate_every = options.validate_every,
                .best_by = options.validate_with == "bleu" ? BestBy::score : BestBy::loss,
                .bad_numbers = options.bad_numbers == "skip" ? BadNumbers::skip : BadNumbers::stop,
                .patience = options.patience,
                .stop = [] { return stop_signal() != 0; }},
      .schedule =
          [&options, &out](Index steps, Index width) {
            if (options.warmup >= steps && (options.schedule == "inverse-sqrt" || options.schedule == "warmup-cosine"))
              out << "the learning rate would reach its peak after " << counted(options.warmup, "step")
                  << ", and the training ends before: more --epochs, a smaller --batch or a shorter --warmup let it "
                     "learn"
                  << std::endl;
            return named_schedule(options.schedule, {options.rate, options.warmup, steps, width});
          },
      .average_decay = options.average_decay,
      .average_best = options.average_best,
      .title = options.model_name(),
      .metadata = settings,
      .resume = options.resume,
      .parallel = {.shard_optimiser = options.shard_optimiser, .overlap = !options.sums_after},
      .say = [&out](const std::string& text) { out << text << std::endl; },
      .log_line = [log = EventLog{options.output, options.json}](const std::string& line) { log.print(line); },
      .progress = [&out, terminal = options.terminal](
                      Index step, Index steps) { return std::make_unique<TerminalCallback>(out, terminal, steps, step); }};
}

}  // namespace attn
