#include <doctest/doctest.h>

#include "attn/optim/adam.hpp"
#include "attn/optim/sgd.hpp"
#include "attn/train/checkpoint.hpp"
#include "attn/train/trainer.hpp"
#include "support/files.hpp"
#include "train/small_training.hpp"

// Trainings that were stopped go on as if they had not been.

using namespace small_training;

TEST_CASE("resume: a run stopped in the middle of an epoch and resumed gives the same bits") {
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  for (const double mask_rate : {0.0, 0.2}) {
    const auto mask = [&](Run& run) {
      run.training = Batches(run.text, {2, 3, Token{3}, 1, 1},
                             {.size = 8, .order = BatchOrder::pooled, .seed = 5, .mask_rate = mask_rate});
    };
    Run whole, unmasked;
    mask(whole);
    whole.trainer.run(whole.training, whole.validation);
    unmasked.trainer.run(unmasked.training, unmasked.validation);
    CHECK((whole.numbers() == unmasked.numbers()) == (mask_rate == 0));
    for (const Index stop : {1, 6, 9}) {
      CAPTURE(stop);
      Run first;
      mask(first);
      first.stop_at = stop;
      first.trainer.run(first.training, first.validation);
      CHECK(first.trainer.state.step == stop);
      save_training(path, first.parameters, first.adam, first.trainer.state);

      Run second;
      mask(second);
      second.trainer.state = load_training(SafetensorsFile(path), second.parameters, second.adam);
      CHECK(second.numbers() == first.numbers());
      second.trainer.run(second.training, second.validation);
      CHECK(second.trainer.state.step == whole.trainer.state.step);
      CHECK(second.trainer.state.best == whole.trainer.state.best);
      CHECK(second.numbers() == whole.numbers());
    }
  }
}

TEST_CASE("resume: a run that selects by score keeps its best score") {
  double score = 30;
  const auto by_score = [&](Run& run) {
    TrainOptions options = run.options();
    options.best_by = BestBy::score;
    options.score = [&] { return score; };
    return options;
  };
  Run first;
  Trainer trainer(first.network, first.adam, ConstantRate{1e-3}, by_score(first));
  trainer.run(first.training, first.validation);
  REQUIRE(trainer.state.best == -30);
  const TemporaryFolder folder;
  save_training(folder / "training.safetensors", first.parameters, first.adam, trainer.state);

  for (const double then : {29.5, 30.5}) {
    score = then;
    Run second;
    TrainOptions options = by_score(second);
    options.epochs += 1;
    Trainer resumed(second.network, second.adam, ConstantRate{1e-3}, options);
    resumed.state = load_training(SafetensorsFile(folder / "training.safetensors"), second.parameters, second.adam);
    CHECK(resumed.state.best == -30);
    Recorder recorder;
    resumed.run(second.training, second.validation, {&recorder});
    REQUIRE(recorder.validations.size() > 0);
    CHECK(recorder.validations.front().best == (then > 30));
  }
}

TEST_CASE("resume: a run stopped at its last step is validated on resume") {
  const auto every_7 = [](Run& run) {
    TrainOptions options = run.options();
    options.validate_every = 7;
    return options;
  };
  Run first;
  bool stop = false;
  TrainOptions options = every_7(first);
  options.stop = [&] { return stop; };
  Trainer trainer(first.network, first.adam, ConstantRate{1e-3}, options);
  Recorder recorder;
  OnStep at_16([&](const StepReport& report) { stop = report.step == 16; });
  trainer.run(first.training, first.validation, {&recorder, &at_16});
  CHECK(recorder.validations.back().step == 14);
  const TemporaryFolder folder;
  save_training(folder / "training.safetensors", first.parameters, first.adam, trainer.state);

  for (const bool again : {false, true}) {
    Run second;
    Trainer resumed(second.network, second.adam, ConstantRate{1e-3}, every_7(second));
    resumed.state = load_training(SafetensorsFile(folder / "training.safetensors"), second.parameters, second.adam);
    CHECK(resumed.state.validated == (again ? 16 : 14));
    Recorder after;
    resumed.run(second.training, second.validation, {&after});
    CHECK(after.validations.size() == (again ? 0 : 1));  // once
    CHECK(resumed.state.validated == 16);
    save_training(folder / "training.safetensors", second.parameters, second.adam, resumed.state);
  }
}

TEST_CASE("resume: a checkpoint stores the state of any optimiser and only that optimiser resumes it") {
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  const auto train = [&](Run& run, Sgd<Device>& by, TrainState from, Index epochs) {
    Trainer trainer(run.network, by, ConstantRate{0.1}, {.epochs = epochs});
    trainer.state = from;
    trainer.run(run.training);
    return trainer.state;
  };
  Run whole, first, second;
  Sgd by_whole(whole.network, {.momentum = 0.9}), by_first(first.network, {.momentum = 0.9}),
      by_second(second.network, {.momentum = 0.9});
  train(whole, by_whole, {}, 2);
  const TrainState state = train(first, by_first, {}, 1);
  save_training(path, first.parameters, by_first, state);
  const SafetensorsFile file(path);
  CHECK(file.metadata().at("training.optimiser") == "sgd");
  CHECK(file["sgd.momentum"].shape == std::vector<Index>{first.parameters.size()});
  train(second, by_second, load_training(file, second.parameters, by_second), 2);
  CHECK(second.numbers() == whole.numbers());
  CHECK(by_second.steps() == by_whole.steps());
  CHECK_THROWS_WITH_AS(load_training(file, second.parameters, second.adam),
                       doctest::Contains("it was trained with sgd, not adam"), Error);
  Sgd plain(first.network, {});
  save_training(path, first.parameters, plain, state);
  CHECK_THROWS_WITH_AS(load_training(SafetensorsFile(path), second.parameters, by_second),
                       doctest::Contains("has no state 'sgd.momentum': the optimiser had other options"), Error);
}

TEST_CASE("resume: a run started with other ranks keeps its step difference") {
  Run run;
  const TemporaryFolder folder;
  TrainState state;
  state.surplus = -2;
  save_training(folder / "training.safetensors", run.parameters, run.adam, state);
  CHECK(load_training(SafetensorsFile(folder / "training.safetensors"), run.parameters, run.adam).surplus == -2);
}
