#include <doctest/doctest.h>

#include "attn/optim/grouped.hpp"
#include "attn/train/checkpoint.hpp"
#include "attn/train/trainer.hpp"
#include "support/files.hpp"
#include "train/small_training.hpp"

// Checkpoints keep parameter groups.

using namespace small_training;

namespace {

void set_groups(Run& run) {
  run.network.group("decoder", {.rate = 0.1, .weight_decay = 0.01});
  run.network.freeze("encoder");
}

std::vector<float> encoder(const Run& run) {
  return run.parameters.read(run.parameters.find("encoder.layers.0.attention.in.weight"));
}

}  // namespace

TEST_CASE("groups: frozen and grouped parameters resume with the same bits and their groups") {
  Run whole;
  set_groups(whole);
  const auto first_weights = encoder(whole);
  whole.trainer.run(whole.training, whole.validation);
  CHECK(encoder(whole) == first_weights);
  Run free;
  free.trainer.run(free.training, free.validation);
  CHECK(free.numbers() != whole.numbers());

  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  Run first;
  set_groups(first);
  first.stop_at = 6;
  first.trainer.run(first.training, first.validation);
  save_training(path, first.parameters, first.adam, first.trainer.state);
  for (const bool set_again : {false, true}) {
    CAPTURE(set_again);
    Run second;
    if (set_again) set_groups(second);
    second.trainer.state = load_training(SafetensorsFile(path), second.parameters, second.adam);
    CHECK(second.parameters.find("encoder.layers.0.attention.in.weight").frozen);
    CHECK(second.parameters.find("decoder.layers.0.self_attention.in.weight").group ==
          GroupOptions{.rate = 0.1, .weight_decay = 0.01});
    second.trainer.run(second.training, second.validation);
    CHECK(second.numbers() == whole.numbers());
  }
}

TEST_CASE("groups: a checkpoint with other groups cannot be resumed") {
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  Run saved;
  set_groups(saved);
  save_training(path, saved.parameters, saved.adam, saved.trainer.state);
  Run other;
  other.network.freeze("encoder");
  const std::string sentence = error_of([&] { load_training(SafetensorsFile(path), other.parameters, other.adam); });
  CHECK(contains(sentence, "it was saved with other parameter groups: 'decoder."));
  CHECK(contains(sentence, "had rate 0.1, weight_decay 0.01, not frozen, and this program sets rate 1, not frozen"));

  Run plain;
  save_training(path, plain.parameters, plain.adam, plain.trainer.state);
  CHECK_FALSE(SafetensorsFile(path).metadata().contains("training.groups"));
  CHECK(contains(error_of([&] { load_training(SafetensorsFile(path), other.parameters, other.adam); }),
                 "had rate 1, not frozen, and this program sets rate 1, frozen"));
}

TEST_CASE("groups: damaged groups in a checkpoint are a clear error") {
  const TemporaryFolder folder;
  Run run;
  set_groups(run);
  save_training(folder / "good", run.parameters, run.adam, run.trainer.state);
  const SafetensorsFile file(folder / "good");
  for (const char* text : {"", "7", "[7]", "[{}]", R"([{"rate": "x", "frozen": true, "names": []}])", "[[[["}) {
    CAPTURE(text);
    Metadata metadata = file.metadata();
    metadata.at("training.groups") = text;
    save_safetensors(folder / "bad", file.tensors(), metadata);
    CHECK(contains(error_of([&] { load_training(SafetensorsFile(folder / "bad"), run.parameters, run.adam); }),
                   "its metadata 'training.groups' is damaged"));
  }
}

TEST_CASE("groups: several optimisers resume with the same bits but only with the same rules") {
  const auto rules = [] {
    return std::vector<OptimiserRule>{{"*", AdamOptions{.weight_decay = 0.01}}, {"encoder", SgdOptions{.momentum = 0.9}}};
  };
  const auto train = [](Run& run, Grouped<Device>& by, TrainState from, Index epochs) {
    Trainer trainer(run.network, by, ConstantRate{1e-3}, {.epochs = epochs});
    trainer.state = from;
    trainer.run(run.training);
    return trainer.state;
  };
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  Run whole, first, second;
  Grouped by_whole(whole.network, rules(), {.clip_norm = 1}), by_first(first.network, rules(), {.clip_norm = 1}),
      by_second(second.network, rules(), {.clip_norm = 1});
  for (Run* run : {&whole, &first}) run->network.group("encoder", {.rate = 10});
  train(whole, by_whole, {}, 2);
  const TrainState state = train(first, by_first, {}, 1);
  save_training(path, first.parameters, by_first, state);
  const SafetensorsFile file(path);
  train(second, by_second, load_training(file, second.parameters, by_second), 2);
  CHECK(second.numbers() == whole.numbers());

  Grouped other(second.network, {{"*", AdamOptions{}}, {"decoder", SgdOptions{.momentum = 0.9}}});
  CHECK(contains(error_of([&] { load_training(file, second.parameters, other); }),
                 "it was trained with the rules '*: adam, encoder: sgd', not '*: adam, decoder: sgd'"));
}
