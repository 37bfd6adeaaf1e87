#include <doctest/doctest.h>

#include <vector>

#include "attn/train/checkpoint_callback.hpp"
#include "attn/train/trainer.hpp"
#include "support/files.hpp"
#include "train/small_training.hpp"

using namespace small_training;

TEST_CASE("validate first: the initial weights are the first best model if requested") {
  Run run;
  TrainOptions options = run.options();
  options.validate_first = true;
  options.epochs = 2;
  const TemporaryFolder folder;
  const std::vector<float> before = run.numbers();
  const double loss = perplexity(run.network, run.validation).mean();
  Trainer trainer(run.network, run.adam, ConstantRate{0.5}, options);  // it only gets worse
  CheckpointCallback checkpoints(folder.path(), trainer);
  Recorder recorder;
  trainer.run(run.training, run.validation, {&recorder, &checkpoints});
  REQUIRE(recorder.validations.size() == 3);
  CHECK(recorder.validations[0].step == 0);
  CHECK(recorder.validations[0].loss == loss);
  CHECK(recorder.validations[0].best);
  CHECK_FALSE(recorder.validations[1].best);
  CHECK_FALSE(recorder.validations[2].best);
  CHECK(trainer.state.best == loss);
  load_model(SafetensorsFile(folder / "model.safetensors"), run.parameters);
  CHECK(run.numbers() == before);

  Run again;  // one that goes on has them to beat already
  Trainer resumed(again.network, again.adam, ConstantRate{1e-3}, options);
  resumed.state = load_training(SafetensorsFile(folder / "training.safetensors"), again.parameters, again.adam);
  resumed.state.position = {1, 0};
  Recorder later;
  resumed.run(again.training, again.validation, {&later});
  REQUIRE(later.validations.size() == 1);
  CHECK(later.validations[0].step == 12);
}
