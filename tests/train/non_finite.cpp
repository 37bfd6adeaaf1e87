#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "attn/train/checkpoint_callback.hpp"
#include "small_training.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// After step `after`, puts a number into the gradient of a parameter, which the next step adds to.
struct Spoil : Callback {
  small_training::Run& run;
  Index after;
  float number;
  bool always = false;
  std::vector<float> before = {};
  std::vector<std::string> warnings = {};

  Spoil(small_training::Run& training, Index step, float bad) : run(training), after(step), number(bad) {}
  void on_step(const StepReport& report) override {
    if (report.step != after && !(always && report.step > after)) return;
    before = run.numbers();
    run.parameters.gradients()[run.parameters.find(name).offset + 1] = number;
  }
  void on_warning(const std::string& text) override { warnings.push_back(text); }

  static constexpr const char* name = "encoder.layers.0.feed_forward.up.weight";
};

}  // namespace

TEST_CASE("non-finite: a run stops with step and parameter and last good checkpoint and good weights") {
  for (const float bad : {std::nanf(""), infinity, 1e30f}) {  // the last one's square is no float
    const TemporaryFolder folder;
    small_training::Run run;
    CheckpointCallback checkpoints(folder.path(), run.trainer);
    Spoil spoil(run, 7, bad);
    const std::string said = error_of([&] { run.trainer.run(run.training, run.validation, {&checkpoints, &spoil}); });
    CHECK(contains(said, "step 8: the gradient of '" + std::string(Spoil::name) + "' is not finite"));
    CHECK(contains(said, "the last good checkpoint, " + (folder / "training.safetensors").string()));
    CHECK(run.numbers() == spoil.before);
  }
}

TEST_CASE("non-finite: a run without checkpoints stops too") {
  small_training::Run run;
  Spoil spoil(run, 1, infinity);
  CHECK(contains(error_of([&] { run.trainer.run(run.training, {&spoil}); }),
                 "step 2: the gradient of '" + std::string(Spoil::name) + "' is not finite. Lower the learning rate"));
  CHECK(run.numbers() == spoil.before);
}

TEST_CASE("non-finite: in skip mode the step is skipped and reported and training continues") {
  const TemporaryFolder folder;
  small_training::Run run;
  Adam adam(run.network);
  Trainer trainer(run.network, adam, ConstantRate{1e-3}, {.epochs = 2, .report_every = 1, .non_finite = NonFinite::skip});
  CheckpointCallback checkpoints(folder.path(), trainer);
  Spoil spoil(run, 3, infinity);
  std::vector<float> after;
  OnStep note([&](const StepReport& report) {
    if (report.step == 4) after = run.numbers();
    CHECK(report.left_out.count == (report.step == 4 ? 1 : 0));
  });
  trainer.run(run.training, run.validation, {&checkpoints, &spoil, &note});
  CHECK(after == spoil.before);
  CHECK(trainer.state.position.epoch == 2);
  CHECK(spoil.warnings ==
        std::vector<std::string>{"skipped 1 step of the last 1, the first at step 4: gradients were not finite"});
  CHECK(run.numbers() != spoil.before);
  for (const float number : run.numbers()) REQUIRE(std::isfinite(number));
}

TEST_CASE("non-finite: training stops if every step would be skipped") {
  small_training::Run run;
  run.parameters.write(run.parameters.find(Spoil::name), std::vector<float>(16 * 32, infinity));
  Adam adam(run.network);
  Trainer trainer(run.network, adam, ConstantRate{1e-3}, {.epochs = 8, .report_every = 10, .non_finite = NonFinite::skip});
  CHECK(contains(error_of([&] { trainer.run(run.training); }),
                 "step 16: the gradients of the last 16 steps were not finite, and all were skipped"));
}

TEST_CASE("non-finite: an optimiser that does not check gradients stops on a non-finite loss") {
  for (const bool validates : {false, true}) {
    small_training::Run run;
    Adam adam(run.network);
    TrainOptions options{.epochs = 3, .report_every = validates ? 1000 : 1, .validate_every = validates ? 1 : 0};
    Trainer trainer(run.network, adam, ConstantRate{1e30}, options);
    const std::string said =
        error_of([&] { validates ? trainer.run(run.training, run.validation) : trainer.run(run.training); });
    CHECK(contains(said, validates ? "step 1: the validation loss is " : "step 2: the training loss is "));
    CHECK(contains(said, "Start again with a lower learning rate"));
    CHECK(trainer.state.step <= 2);
  }
}

TEST_CASE("non-finite: a non-finite model is not saved") {
  const TemporaryFolder folder;
  small_training::Run run;
  run.parameters.write(run.parameters.find(Spoil::name), std::vector<float>(16 * 32, std::nanf("")));
  CHECK(contains(error_of([&] { save_model(folder / "model", run.parameters); }),
                 "model: parameter '" + std::string(Spoil::name) + "' is not finite"));
  CHECK(!std::filesystem::exists(folder / "model"));
}

TEST_CASE("non-finite: a non-finite learning rate is an error") {
  small_training::Run run;
  Adam adam(run.network);
  const auto rate = [](Index step) { return step < 3 ? 1e-3 : INFINITY; };
  Trainer trainer(run.network, adam, rate, {.epochs = 1});
  CHECK(
      contains(error_of([&] { trainer.run(run.training); }), "the learning rate of step 3 is inf. Correct the schedule."));
  CHECK(trainer.state.step == 2);
}
