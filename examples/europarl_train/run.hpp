#pragma once
#include <algorithm>
#include <optional>

#include "attn/decode/attention_maps.hpp"
#include "attn/decode/translator.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/memory_plan.hpp"
#include "attn/train/progress.hpp"
#include "attn/train/run_log.hpp"
#include "attn/train/trainer.hpp"
#include "job.hpp"
#include "map_folder.hpp"
#include "named_models.hpp"
#include "run_folder.hpp"

/// Draws where the model looked in the first sentences of the first test.
template <class Device, class Model>
void draw_maps(Device& device, Model& model, const Job& job, const std::vector<std::string>& translations) {
  const TextSide source(job.corpus.source, {}), target(job.corpus.target, {});
  MapFolder maps(job.folder() / "maps", "--output", source, target);
  const auto& lines = job.corpus.tests[0].text.source;
  for (std::size_t i = 0; i < std::min(lines.size(), static_cast<std::size_t>(job.options.maps)); ++i) {
    const auto read = source.encode(lines[i]), written = target.encode(translations[i]);
    maps.add(static_cast<attn::Index>(i) + 1, read, written,
             attn::attention_maps(device, model, attn::special_tokens_of(source, target), read, written));
  }
  maps.finish();
}

/// Trains a model as the job says, translates the tests with its last state and its best, and scores that.
template <class Model>
void train_and_translate(attn::Network<Model>& network, const Job& job) {
  using namespace attn;
  using Device = typename Model::DeviceType;
  Device& device = network.device();
  Parameters<Device>& parameters = network.parameters;
  const Corpus& corpus = job.corpus;
  const Recipe& recipe = job.options.recipe;
  Adam<Device> adam(parameters, adam_options(job));
  const SpecialTokens special_tokens = special_tokens_of(corpus.source, corpus.target);
  Batches training(corpus.training, special_tokens, training_batches(job));
  Batches validation(corpus.validation, special_tokens, validation_batches(job));
  Trainer trainer(network, adam, Constant{recipe.rate}, train_options(job));

  const Metadata metadata = describe(job);
  const bool goes_on = job.options.resume && job.begun();
  if (goes_on) {
    const SafetensorsFile file(job.folder() / "training.safetensors");
    check_same(file, metadata);
    trainer.state = load_training(file, parameters, adam);
  }
  const Index first = trainer.state.position.epoch, step = trainer.state.step;
  const Index steps = most_steps(job, training.batches_per_epoch());
  const MemoryPlan plan = plan_memory(network, adam, training.largest(first, 1), validation.largest(0, 1));
  job.board.say(job.name() + ": " + format_count(parameters.count()) + " parameters, " + device.description() +
                ", at most " + format_count(steps) + " steps of " + std::to_string(recipe.batch) + " sentences" +
                (goes_on ? ", going on at step " + format_count(step) : "") + "; memory: " + plan.to_string());

  RunLog log(job.folder() / "log.jsonl", job.folder() / "curve.svg", job.row.name + ", seed " + std::to_string(job.seed),
             goes_on ? std::optional(step) : std::nullopt);
  log.write({{"event", "start"},
             {"step", step},
             {"settings", metadata},
             {"device", device.description()},
             {"parameters", parameters.count()},
             {"memory", plan.total()}});
  write_model_card(job, parameters.count());
  {
    OnBoard board(job.board, job.name(), step, steps);
    CheckpointCallback checkpoints(job.folder(), trainer, metadata);
    trainer.run(training, validation, {&board, &log, &checkpoints});
  }
  if (interrupted) return;

  const Translator translate(device, *network, corpus.source, corpus.target,
                             {.limit = recipe.limit, .never = recipe.says_unknown ? Token{-1} : corpus.target.unknown()});
  const auto translate_all = [&] {
    Translations translations;
    for (const TestSet& test : corpus.tests) translations.push_back(translate(test.text.source));
    return translations;
  };
  const Translations last = translate_all();
  load_model(SafetensorsFile(job.folder() / "model.safetensors"), parameters);
  const Translations best = trainer.state.stale == 0 ? last : translate_all();  // the last may be the best
  if (job.options.maps > 0) draw_maps(device, *network, job, best[0]);
  finish(job, parameters.count(), device.description(), best, last);
}

template <class Device>
void run_transformer(Device& device, const Job& job) {
  attn::Network<attn::Transformer<Device, attn::small_shape>> network(device,
                                                                      {.source_vocabulary = job.corpus.source.padded_size(),
                                                                       .target_vocabulary = job.corpus.target.padded_size(),
                                                                       .dropout = {0.1f, 0.2f, 0.1f}},
                                                                      job.seed);
  train_and_translate(network, job);
}

template <class Device>
void run_recurrent(Device& device, const Job& job) {
  with_recurrent<Device>(job.row.model, [&]<class Model>() {
    attn::Network<Model> network(
        device,
        {.source_vocabulary = job.corpus.source.padded_size(),
         .target_vocabulary = job.corpus.target.padded_size(),
         .dropout = job.row.experiment == "coursework" ? papers::coursework_dropout : attn::RecurrentDropout{}},
        job.seed);
    train_and_translate(network, job);
  });
}
