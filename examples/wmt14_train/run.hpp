#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "attn/decode/translator.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/memory_plan.hpp"
#include "attn/train/run_log.hpp"
#include "attn/train/terminal.hpp"
#include "attn/train/trainer.hpp"
#include "attn/version.hpp"
#include "corpus.hpp"
#include "named_models.hpp"
#include "run_folder.hpp"
#include "settings.hpp"

/// Trains a model as the options say, translates the test text with its best state, and scores that.
template <class Model>
void train_and_translate(attn::Network<Model>& network, const Options& options, const Corpus& corpus) {
  using namespace attn;
  using Device = typename Model::DeviceType;
  Device& device = network.device();
  Parameters<Device>& parameters = network.parameters;
  Adam<Device> adam(parameters,
                    {.beta2 = 0.98, .epsilon = 1e-9, .weight_decay = options.weight_decay, .clip_norm = options.clip});

  const SpecialTokens special_tokens = special_tokens_of(corpus.tokenizer, corpus.tokenizer);
  Batches training(corpus.training, special_tokens, batch_options(options));
  Batches validation(corpus.validation, special_tokens,
                     {.size = options.batch, .unit = batch_options(options).unit, .order = BatchOrder::pooled});
  const Index steps_per_epoch = (training.batches_per_epoch() + options.accumulate - 1) / options.accumulate;
  const Index steps = steps_per_epoch * options.epochs;
  Trainer trainer(network, adam, rate_schedule(options, steps, Model::width),
                  train_options(options, [] { return interrupted.load(); }));

  const Metadata metadata = describe(options, corpus.tokenizer.hash());
  if (options.resume) {
    const SafetensorsFile file(options.output / "training.safetensors");
    check_same(file, metadata);
    trainer.state = load_training(file, parameters, adam);
  }
  std::cout << options.model << ", " << options.size << ": " << format_count(parameters.count()) << " parameters, "
            << device.description() << ", " << format_count(steps) << " steps of " << options.batch << " "
            << options.batch_unit << (options.resume ? ", going on at step " + format_count(trainer.state.step) : "")
            << "\n";
  // Later epochs are dealt alike: a few rows more, if any, are taken when they come.
  const Index first = trainer.state.position.epoch, epochs = std::clamp<Index>(options.epochs - first, 1, 3);
  const MemoryPlan plan = plan_memory(network, adam, training.largest(first, epochs), validation.largest(0, 1));
  std::cout << "memory: " << plan.to_string() << "\n";

  RunLog log(options.output / "log.jsonl", options.output / "curve.svg", options.model + " " + options.size,
             options.resume ? std::optional(trainer.state.step) : std::nullopt);
  log.write(
      {{"event", "start"},
       {"settings", metadata},
       {"device", device.description()},
       {"precision", std::is_same_v<typename Device::Scalar, float> && options.precision != "bf16" ? "float" : "bf16"},
       {"parameters", parameters.count()},
       {"memory", plan.total()}});
  TerminalCallback terminal(std::cout, ::isatty(1) != 0, steps, trainer.state.step);
  CheckpointCallback checkpoints(options.output, trainer, metadata);
  stop_on_interrupt();
  const auto start = std::chrono::steady_clock::now();
  trainer.run(training, validation, {&terminal, &log, &checkpoints});
  std::cout << "trained for "
            << format_duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) << "\n";
  if (interrupted) {
    std::cout << "stopped; go on with the same options and --resume\n";
    return;
  }

  load_model(SafetensorsFile(options.output / "model.safetensors"), parameters);
  const Translator translate(device, *network, corpus.tokenizer, corpus.tokenizer,
                             {.limit = options.limit, .truncate = options.truncate - 1});
  const std::vector<std::string> translations = translate(corpus.test.source);
  const Bleu score = corpus_bleu(translations, corpus.test.target);
  log.write({{"event", "test"}, {"bleu", score.score}, {"signature", score.signature()}});
  write_lines(options.output / "translations.txt", translations);

  std::cout << "\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, translations.size()); ++i)
    std::cout << "  source       " << corpus.test.source[i] << "\n  translation  " << translations[i] << "\n  reference    "
              << corpus.test.target[i] << "\n\n";
  std::cout << "on " << format_count(static_cast<Index>(translations.size())) << " unseen sentences: " << score.to_string()
            << "\n"
            << score.signature() << "\nwritten to " << options.output.string() << "\n";
}

template <class Device>
void run_transformer(Device& device, const Options& options, const Corpus& corpus) {
  with_transformer<Device>(options.model, options.size, [&]<class Model>() {
    const attn::Index vocabulary = corpus.tokenizer.padded_size();
    attn::Network<Model> network(
        device,
        {.source_vocabulary = vocabulary,
         .target_vocabulary = vocabulary,
         .dropout = {static_cast<float>(options.dropout), static_cast<float>(options.attention_dropout),
                     static_cast<float>(options.activation_dropout)},
         .share_embeddings = options.shared,
         .tie_output = options.shared},
        options.seed);
    train_and_translate(network, options, corpus);
  });
}

template <class Device>
void run_recurrent(Device& device, const Options& options, const Corpus& corpus) {
  with_recurrent<Device>(options.model, [&]<class Model>() {
    const attn::Index vocabulary = corpus.tokenizer.padded_size();
    const auto rate = static_cast<float>(options.dropout);
    attn::Network<Model> network(
        device, {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .dropout = {rate, rate, rate}},
        options.seed);
    train_and_translate(network, options, corpus);
  });
}
