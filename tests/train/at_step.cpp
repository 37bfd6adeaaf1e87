#include <doctest/doctest.h>

#include "attn/train/checkpoint.hpp"
#include "support/files.hpp"
#include "train/small_training.hpp"

using namespace small_training;

namespace {

std::vector<float> encoder(const Run& run) {
  return run.parameters.read(run.parameters.find("encoder.layers.0.attention.in.weight"));
}

}  // namespace

TEST_CASE("at_step: callbacks are called once before every step, with the number of completed steps") {
  struct Steps : Callback {
    const TrainState* state = nullptr;
    std::vector<Index> seen;
    void on_step_begin(Index completed) override {
      CHECK(completed == state->step);
      seen.push_back(completed);
    }
  };
  Run run;
  Steps steps;
  steps.state = &run.trainer.state;
  run.trainer.run(run.training, run.validation, {&steps});
  std::vector<Index> all(16);  // 4 epochs of 4 steps
  for (Index i = 0; i < 16; ++i) all[static_cast<std::size_t>(i)] = i;
  CHECK(steps.seen == all);
}

TEST_CASE("at_step: unfreezes a part after exactly as many steps") {
  for (const Index at : {0, 1, 4, 5, 16}) {  // an epoch has 4 steps
    CAPTURE(at);
    Run run;
    run.network.freeze("encoder");
    const auto before = encoder(run);
    int calls = 0;
    AtStep thaw(at, [&] {
      ++calls;
      CHECK(run.trainer.state.step == at);
      run.network.unfreeze("encoder");
    });
    Index first_change = -1;
    OnStep watch([&](const StepReport& report) {
      if (first_change < 0 && encoder(run) != before) first_change = report.step;
    });
    run.trainer.run(run.training, {&thaw, &watch});
    CHECK(calls == (at < 16 ? 1 : 0));
    CHECK(first_change == (at < 16 ? at + 1 : -1));
  }
}

TEST_CASE("at_step: a resumed training acts at the same step and gives the same bits") {
  const auto train = [](Run& run) {
    AtStep thaw(6, [&] { run.network.unfreeze("encoder"), run.network.group("decoder", {.rate = 0.5}); });
    run.trainer.run(run.training, run.validation, {&thaw});
  };
  Run whole;
  whole.network.freeze("encoder");
  train(whole);
  for (const Index stop : {5, 6, 7}) {
    CAPTURE(stop);
    const TemporaryFolder folder;
    Run first, second;
    first.network.freeze("encoder");
    first.stop_at = stop;
    train(first);
    save_training(folder / "training.safetensors", first.parameters, first.adam, first.trainer.state);
    second.trainer.state = load_training(SafetensorsFile(folder / "training.safetensors"), second.parameters, second.adam);
    train(second);
    CHECK(second.numbers() == whole.numbers());
  }
}
