#include "settings.hpp"

#include <unistd.h>

#include <cmath>
#include <iostream>

#include "attn/optim/schedules.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/train/terminal.hpp"

using namespace attn;

namespace {

std::function<double(Index)> schedule(const Options& options, Index steps, Index width) {
  if (options.schedule == "warmup-cosine")
    return WarmupCosine{.warmup = options.warmup,
                        .from = options.rate / 1000,
                        .peak = options.rate,
                        .last = options.rate / 100,
                        .total = steps};
  if (options.schedule == "step") return StepDecay{.rate = options.rate, .factor = 0.5, .every = options.warmup};
  if (options.schedule == "constant") return Constant{options.rate};
  const double scale = options.rate * std::sqrt(static_cast<double>(width * options.warmup));  // the peak is the rate
  return InverseSquareRoot{.width = width, .warmup = options.warmup, .scale = scale};
}

}  // namespace

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
  const auto text = [](double value) { return nlohmann::json(value).dump(); };
  return {{"model", options.model_name()},
          {"shared", options.shared ? "yes" : "no"},
          {"tokenizer", std::to_string(corpus.tokenizer.hash())},
          {"training text", std::to_string(content_hash(corpus.training))},
          {"seed", std::to_string(options.seed)},
          {"batch", std::to_string(options.batch)},
          {"batch-unit", options.batch_unit},
          {"order", options.order},
          {"accumulate", std::to_string(options.accumulate)},
          {"truncate", std::to_string(options.truncate)},
          {"schedule", options.schedule},
          {"rate", text(options.rate)},
          {"warmup", std::to_string(options.warmup)},
          {"epochs", std::to_string(options.epochs)},
          {"patience", std::to_string(options.patience)},
          {"smoothing", text(options.smoothing) + " over " + options.smoothing_over},
          {"dropout", text(options.dropout)},
          {"attention-dropout", text(options.attention_dropout)},
          {"activation-dropout", text(options.activation_dropout)},
          {"clip", text(options.clip)},
          {"amsgrad", options.amsgrad ? "yes" : "no"},
          {"weight-decay", text(options.weight_decay)}};
}

TrainingRun training_run(const Options& options, const Corpus& corpus, const Metadata& settings) {
  const BatchUnit unit = options.batch_unit == "tokens" ? BatchUnit::tokens : BatchUnit::sentences;
  const BatchOrder order = options.order == "pooled"     ? BatchOrder::pooled
                           : options.order == "shuffled" ? BatchOrder::shuffled
                                                         : BatchOrder::sequential;
  return {
      .folder = options.output,
      .training = corpus.training,
      .validation = corpus.validation,
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
                .patience = options.patience,
                .stop = [] { return stop_signal() != 0; }},
      .schedule = [&options](Index steps, Index width) { return schedule(options, steps, width); },
      .title = options.model_name(),
      .metadata = settings,
      .resume = options.resume,
      .say = [](const std::string& text) { std::cout << text << std::endl; },
      .progress = [](Index step,
                     Index steps) { return std::make_unique<TerminalCallback>(std::cout, ::isatty(1) != 0, steps, step); }};
}
