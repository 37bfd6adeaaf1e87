#include "attn/optim/averaged.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "attn/train/checkpoint_callback.hpp"
#include "support/files.hpp"
#include "train/small_training.hpp"

using namespace small_training;

TEST_CASE("averaged training: validates and saves averaged weights and continues from the raw ones") {
  const auto train = [](double decay, const std::filesystem::path& folder) {
    Run run;
    Averaged averaged(run.network, run.adam, decay);
    Trainer trainer(run.network, averaged, InverseSquareRoot{16, 20, 0.5}, run.options());
    CheckpointCallback checkpoints(folder, trainer);
    Recorder recorder;
    trainer.run(run.training, run.validation, {&recorder, &checkpoints});
    const std::vector<float> own = run.numbers();
    load_model(SafetensorsFile(folder / "model.safetensors"), run.parameters);
    const double saved = perplexity(run.network, run.validation).mean();
    double best = recorder.validations[0].loss;
    for (const ValidationReport& report : recorder.validations) best = std::min(best, report.loss);
    CHECK(saved == best);
    return std::pair(own, best);
  };
  const TemporaryFolder plain, smooth;
  const auto alone = train(0, plain / ""), averaged = train(0.9, smooth / "");
  CHECK(alone.first == averaged.first);  // the same steps
  CHECK(alone.second != averaged.second);
}

TEST_CASE("averaged training: a resumed run gives the same bits as an uninterrupted one") {
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  const auto train = [&](Index stop, bool resume) {
    Run run;
    run.stop_at = stop;
    Averaged averaged(run.network, run.adam, 0.9);
    TrainOptions options = run.options();
    Index step = 0;
    options.stop = [&] { return step >= stop; };
    Trainer trainer(run.network, averaged, InverseSquareRoot{16, 20, 0.5}, options);
    OnStep count([&](const StepReport& report) { step = report.step; });
    if (resume) trainer.state = load_training(SafetensorsFile(path), run.parameters, averaged);
    trainer.run(run.training, run.validation, {&count});
    save_training(path, run.parameters, averaged, trainer.state);
    averaged.exchange();
    return run.numbers();
  };
  const auto whole = train(1000, false);
  train(6, false);
  CHECK(train(1000, true) == whole);
}

TEST_CASE("averaged training: the best model can be chosen by the highest score") {
  Run run;
  TrainOptions options = run.options();
  double score = 10;
  options.score = [&] { return score -= 1; };
  options.best_by = BestBy::score;
  options.patience = 2;
  Trainer trainer(run.network, run.adam, InverseSquareRoot{16, 20, 0.5}, options);
  Recorder recorder;
  trainer.run(run.training, run.validation, {&recorder});
  REQUIRE(recorder.validations.size() == 3);  // the first is the best, two more are waited for
  CHECK(recorder.validations[0].best);
  CHECK(recorder.validations[0].score == 9);
  CHECK(recorder.validations[0].value == -9);
  CHECK(!recorder.validations[1].best);
  CHECK(trainer.state.best == -9);
  options.score = {};
  CHECK_THROWS_WITH_AS((Trainer(run.network, run.adam, ConstantRate{0}, options)),
                       doctest::Contains("BestBy::score needs TrainOptions::score"), Error);
}
