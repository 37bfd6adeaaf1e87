#include "attn/train/layer_gradient_norms.hpp"

#include <doctest/doctest.h>

#include "attn/optim/sgd.hpp"
#include "parallel/parallel_training.hpp"
#include "parallel/thread_ranks.hpp"
#include "train/small_training.hpp"

using namespace attn;
using Norms = std::map<std::string, double>;

namespace {

/// Layers with and without numbers. The parameters of `encoder` are not adjacent.
struct Names {
  using DeviceType = Cpu<double>;
  Parameter<DeviceType> scale{3, 1}, weight{2, 2}, bias{2, 1}, second{2, 1}, offset{1, 1};
  void for_each_parameter(auto&& visit) {
    visit("encoder.scale", scale);
    visit("encoder.layers.0.attention.weight", weight);
    visit("encoder.layers.0.bias", bias);
    visit("encoder.layers.10.bias", second);
    visit("encoder.offset", offset);
  }
};

double total(const Norms& norms) {
  double squares = 0;
  for (const auto& [layer, norm] : norms) squares += norm * norm;
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("layer gradient norms: the layer of a parameter ends at the first number or before the last part") {
  CHECK(layer_of("encoder.layers.3.attention.in.weight") == "encoder.layers.3");
  CHECK(layer_of("encoder.layers.12.blocks.0.bias") == "encoder.layers.12");
  CHECK(layer_of("decoder.norm.gain") == "decoder.norm");
  CHECK(layer_of("output.weight") == "output");
  CHECK(layer_of("linformer32.k2.weight") == "linformer32.k2");
  CHECK(layer_of("0.weight") == "0");
  CHECK(layer_of("tables.1") == "tables.1");
  CHECK(layer_of("weight") == "weight");
}

TEST_CASE("layer gradient norms: norms are those of known gradients, without frozen parameters") {
  Cpu<double> device(1);
  Network<Names> network(device, 1);
  auto& parameters = network.parameters;
  const auto set = [&](const char* name, const std::vector<double>& numbers) {
    std::ranges::copy(numbers, parameters.gradients() + parameters.find(name).offset);
  };
  set("encoder.scale", {2, -1, 2});  // 9
  set("encoder.layers.0.attention.weight", {1, -1, 3, 2});
  set("encoder.layers.0.bias", {0, -7});  // 15 + 49 = 64
  set("encoder.layers.10.bias", {3, 4});
  set("encoder.offset", {4});  // 9 + 16 = 25
  LayerGradientNorms<Cpu<double>> norms(parameters, {});
  norms.compute();
  CHECK(norms.read(nullptr) == Norms{{"encoder", 5}, {"encoder.layers.0", 8}, {"encoder.layers.10", 5}});

  network.freeze("encoder.layers.0.bias");  // its gradient does not count
  network.freeze("encoder.layers.10");      // no parameter is trained
  set("encoder.layers.0.attention.weight", {0, 0, 3, 4});
  norms.compute();
  CHECK(norms.read(nullptr) == Norms{{"encoder", 5}, {"encoder.layers.0", 5}});
}

TEST_CASE("layer gradient norms: a trainer reports the norms of the last step on request and trains the same weights") {
  using namespace small_training;
  Run plain, run;
  Recorder off, on;
  plain.trainer.run(plain.training, plain.validation, {&off});
  TrainOptions options = run.options();
  options.gradient_norms = true;
  options.report_every = 3;  // an epoch of 4 steps ends between reports
  Trainer trainer(run.network, run.adam, InverseSquareRoot{16, 20, 0.5}, options);
  trainer.run(run.training, run.validation, {&on});
  CHECK(run.numbers() == plain.numbers());
  REQUIRE(on.steps.size() == 8);
  for (const StepReport& report : on.steps) {
    std::vector<std::string> layers;
    for (const auto& [layer, norm] : report.gradient_norms) layers.push_back(layer);
    CHECK(layers == std::vector<std::string>{"decoder.layers.0", "encoder.layers.0", "output", "source_embedding",
                                             "target_embedding"});
    CHECK(total(report.gradient_norms) == doctest::Approx(*report.gradient_norm).epsilon(1e-5));
    const StepReport& same = off.steps.at(static_cast<std::size_t>(report.step - 1));
    CHECK(*report.gradient_norm == *same.gradient_norm);
    CHECK(same.gradient_norms.empty());
  }
}

TEST_CASE("layer gradient norms: norms are those before clipping and need no optimiser that computes a norm") {
  using namespace small_training;
  const auto first_report = [](double clip, bool freeze) {
    Run run;
    if (freeze) run.network.freeze("encoder");
    Sgd sgd(run.network, {.clip_norm = clip});
    Trainer trainer(run.network, sgd, ConstantRate{1e-3}, {.epochs = 1, .steps = 1, .gradient_norms = true});
    Recorder recorder;
    trainer.run(run.training, {&recorder});
    return recorder.steps.at(0);
  };
  const StepReport clipped = first_report(1e-3, false), plain = first_report(0, false), frozen = first_report(1e-3, true);
  CHECK_FALSE(plain.gradient_norm);
  CHECK(clipped.gradient_norms == plain.gradient_norms);
  CHECK(total(clipped.gradient_norms) > 0.1);
  CHECK(clipped.gradient_norms.contains("encoder.layers.0"));
  CHECK_FALSE(frozen.gradient_norms.contains("encoder.layers.0"));
  CHECK(frozen.gradient_norms.at("output") == plain.gradient_norms.at("output"));
  CHECK(total(frozen.gradient_norms) == doctest::Approx(*frozen.gradient_norm).epsilon(1e-5));
}

TEST_CASE("layer gradient norms: several ranks report the norms of the sum of their gradients") {
  using namespace parallel_training;
  const auto train_with_norms = [](Run& run) {
    run.options.gradient_norms = true;
    Trainer trainer(run.network, run.optimiser, InverseSquareRoot{16, 20, 0.5}, run.options, &run.ranks);
    small_training::Recorder recorder;
    trainer.run(run.training, {&recorder});
    return recorder.steps;
  };
  Run alone(3);
  const std::vector<StepReport> one = train_with_norms(alone);
  REQUIRE(one.size() > 2);
  CHECK(one[0].gradient_norms.size() >= 5);
  for (const bool shard : {false, true}) {
    CAPTURE(shard);
    std::vector<std::vector<StepReport>> several(3);
    thread_ranks::on_ranks(3, [&](thread_ranks::ThreadRank& rank) {
      Run run(rank, 1, shard);
      several[static_cast<std::size_t>(rank.rank())] = train_with_norms(run);
    });
    for (const auto& steps : several) {
      REQUIRE(steps.size() == one.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        CHECK(steps[i].gradient_norms == several[0][i].gradient_norms);
        CHECK(total(steps[i].gradient_norms) == doctest::Approx(*steps[i].gradient_norm).epsilon(1e-11));
        REQUIRE(steps[i].gradient_norms.size() == one[i].gradient_norms.size());
        for (const auto& [layer, norm] : one[i].gradient_norms)
          CHECK(steps[i].gradient_norms.at(layer) == doctest::Approx(norm).epsilon(1e-9));
      }
    }
  }
}
