#include "settings.hpp"

#include <cmath>

#include "attn/version.hpp"

using namespace attn;

BatchOptions batch_options(const Options& options) {
  return {.size = options.batch,
          .unit = options.batch_unit == "tokens" ? BatchUnit::tokens : BatchUnit::sentences,
          .order = options.order == "pooled"     ? BatchOrder::pooled
                   : options.order == "shuffled" ? BatchOrder::shuffled
                                                 : BatchOrder::sequential,
          .seed = options.seed};
}

TrainOptions train_options(const Options& options, std::function<bool()> stop) {
  return {.epochs = options.epochs,
          .accumulate = options.accumulate,
          .loss = {.amount = static_cast<float>(options.smoothing)},
          .seed = options.seed,
          .validate_every = options.validate_every,
          .patience = options.patience,
          .stop = std::move(stop)};
}

NamedSchedule rate_schedule(const Options& options, Index steps, Index width) {
  if (options.schedule == "warmup-cosine")
    return {WarmupCosine{.warmup = options.warmup,
                         .from = options.rate / 1000,
                         .peak = options.rate,
                         .last = options.rate / 100,
                         .total = steps}};
  if (options.schedule == "step") return {StepDecay{.rate = options.rate, .factor = 0.5, .every = options.warmup}};
  if (options.schedule == "constant") return {Constant{options.rate}};
  const double scale =
      options.rate * std::sqrt(static_cast<double>(width * options.warmup));  // so that the peak is the rate
  return {InverseSquareRoot{.width = width, .warmup = options.warmup, .scale = scale}};
}

Metadata describe(const Options& options, std::uint64_t tokenizer_hash) {
  const auto text = [](double value) { return nlohmann::json(value).dump(); };
  return {{"attn.version", ATTN_VERSION},
          {"model", options.model},
          {"size", options.size},
          {"shared", options.shared ? "yes" : "no"},
          {"tokenizer.hash", std::to_string(tokenizer_hash)},
          {"seed", std::to_string(options.seed)},
          {"batch", std::to_string(options.batch)},
          {"batch_unit", options.batch_unit},
          {"order", options.order},
          {"accumulate", std::to_string(options.accumulate)},
          {"truncate", std::to_string(options.truncate)},
          {"schedule", options.schedule},
          {"rate", text(options.rate)},
          {"warmup", std::to_string(options.warmup)},
          {"epochs", std::to_string(options.epochs)},
          {"smoothing", text(options.smoothing)},
          {"dropout", text(options.dropout)},
          {"attention_dropout", text(options.attention_dropout)},
          {"activation_dropout", text(options.activation_dropout)},
          {"clip", text(options.clip)},
          {"weight_decay", text(options.weight_decay)}};
}
