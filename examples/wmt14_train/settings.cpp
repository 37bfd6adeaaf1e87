#include "settings.hpp"

#include <unistd.h>

#include <iostream>

#include "attn/optim/named_schedule.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/train/json_text.hpp"
#include "attn/train/terminal.hpp"

using namespace attn;

ModelSpec model_spec(const Options& options, const Corpus& corpus) {
  const Index vocabulary = corpus.tokenizer.padded_size();
  return {.name = options.model_name(),
          .source_vocabulary = vocabulary,
          .target_vocabulary = vocabulary,
          .dropout = options.dropout,
          .attention_dropout = options.attention_dropout,
          .activation_dropout = options.activation_dropout,
          .share_embeddings = options.shared,
          .tie_output = options.shared};
}

Metadata settings_of(const Options& options, const Corpus& corpus) {
  Metadata settings = options.settings();
  settings["tokenizer"] = std::to_string(corpus.tokenizer.hash());
  settings["training text"] = std::to_string(corpus.training_hash());
  settings["validation text"] = std::to_string(corpus.validation_hash());
  return settings;
}

void print_line(const Options& options, const std::string& line) {
  if (options.json == nullptr) return;
  *options.json << line << std::endl;
  require(options.json->good(), "cannot write to standard output; is the disk full?");
}

void note(const Options& options, const nlohmann::json& event) {
  append_to_log(options.output, event);
  print_line(options, json_text(event));
}

TrainingRun training_run(const Options& options, const Corpus& corpus, const Metadata& settings) {
  const BatchUnit unit = options.batch_unit == "tokens" ? BatchUnit::tokens : BatchUnit::sentences;
  const BatchOrder order = options.order == "pooled"     ? BatchOrder::pooled
                           : options.order == "shuffled" ? BatchOrder::shuffled
                                                         : BatchOrder::sequential;
  const bool terminal = ::isatty(options.json != nullptr ? STDERR_FILENO : STDOUT_FILENO) != 0;
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
          [&options](Index steps, Index width) {
            return named_schedule(options.schedule, {options.rate, options.warmup, steps, width});
          },
      .average_decay = options.average_decay,
      .average_best = options.average_best,
      .title = options.model_name(),
      .metadata = settings,
      .resume = options.resume,
      .parallel = {.shard_optimiser = options.shard_optimiser, .overlap = !options.sums_after},
      .say = [](const std::string& text) { std::cout << text << std::endl; },
      .log_line = [&options](const std::string& line) { print_line(options, line); },
      .progress = [terminal](Index step,
                             Index steps) { return std::make_unique<TerminalCallback>(std::cout, terminal, steps, step); }};
}
