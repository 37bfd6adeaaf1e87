#include "attn/train/trainer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attn/data/sharded_corpus.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/sgd.hpp"
#include "attn/train/checkpoint_callback.hpp"
#include "support/files.hpp"
#include "train/small_training.hpp"

using namespace small_training;

TEST_CASE("trainer: reports every step and validates after every epoch") {
  Run run;
  Recorder recorder;
  run.trainer.run(run.training, run.validation, {&recorder});
  CHECK(run.training.batches_per_epoch() == 8);
  CHECK(run.trainer.state.step == 16);  // 4 epochs of 8 batches, 2 a step
  REQUIRE(recorder.steps.size() == 16);
  REQUIRE(recorder.validations.size() == 4);
  CHECK(recorder.ends == 1);
  Index tokens = 0;
  for (const StepReport& report : recorder.steps) tokens += report.tokens;
  CHECK(tokens == 4 * static_cast<Index>(run.text.source.tokens.size() + run.text.target.tokens.size() + 2 * 60));
  CHECK(recorder.steps.back().loss < recorder.steps.front().loss);
  CHECK(recorder.validations[0].best);
  CHECK(recorder.validations[3].step == 16);
  CHECK(recorder.validations[3].loss == perplexity(run.network, run.validation).mean());
}

TEST_CASE("trainer: stops after the patience for improvement is exhausted") {
  Run run;
  TrainOptions options = run.options();
  options.epochs = 50;
  options.patience = 2;
  Trainer trainer(run.network, run.adam, ConstantRate{0},
                  options);  // nothing is ever learnt
  Recorder recorder;
  trainer.run(run.training, run.validation, {&recorder});
  CHECK(recorder.validations.size() == 3);
  CHECK(recorder.validations[0].best);
  CHECK_FALSE(recorder.validations[1].best);
  CHECK(trainer.state.stale == 2);
}

TEST_CASE("trainer: validates at intervals and once at the end") {
  Run run;
  TrainOptions options = run.options();
  options.validate_every = 7;
  Trainer trainer(run.network, run.adam, ConstantRate{1e-3}, options);
  Recorder recorder;
  trainer.run(run.training, run.validation, {&recorder});
  std::vector<Index> steps;
  for (const ValidationReport& report : recorder.validations) steps.push_back(report.step);
  CHECK(steps == std::vector<Index>{7, 14, 16});
}

TEST_CASE("trainer: a report precedes every validation so that its time is not counted") {
  Run run;
  TrainOptions options = run.options();
  options.validate_every = 7;
  options.report_every = 5;
  Trainer trainer(run.network, run.adam, ConstantRate{1e-3}, options);
  Recorder recorder;
  Index reported = 0;
  bool always = true;
  OnValidation watch([&](const ValidationReport& report) { always = always && report.step == reported; });
  OnStep note([&](const StepReport& report) { reported = report.step; });
  trainer.run(run.training, run.validation, {&note, &watch, &recorder});
  CHECK(always);
  CHECK(recorder.validations.size() == 3);
  Index tokens = 0, all = 0;
  for (const StepReport& report : recorder.steps) tokens += report.tokens;
  for (Index epoch = 0; epoch < 4; ++epoch)
    for (run.training.start_epoch(epoch); run.training.next_size().tokens > 0; run.training.skip())
      all += run.training.next_size().tokens;
  CHECK(tokens == all);
}

TEST_CASE("trainer: stops after the given number of steps and validates") {
  Run run;
  TrainOptions options = run.options();
  options.steps = 5;
  Trainer trainer(run.network, run.adam, ConstantRate{1e-3}, options);
  Recorder recorder;
  trainer.run(run.training, run.validation, {&recorder});
  CHECK(trainer.state.step == 5);
  REQUIRE(recorder.validations.size() == 2);  // after the epoch of 4 steps, and at the end
  CHECK(recorder.validations[1].step == 5);
  trainer.run(run.training, run.validation, {&recorder});
  CHECK(trainer.state.step == 5);
}

TEST_CASE("trainer: the step loss is a mean over tokens or sentences and clipping uses it") {
  // Without clipping Adam does not ask how large a loss is, but for its epsilon; with it the larger one is cut.
  const auto norm_of_step = [](BatchUnit mean, double clip) {
    Run run;
    Adam<Device> adam(run.parameters, {.beta1 = 0, .beta2 = 0, .epsilon = 1e6, .clip_norm = clip});  // in proportion
    TrainOptions options{.epochs = 1, .steps = 1, .mean = mean};
    Trainer trainer(run.network, adam, ConstantRate{1e3}, options);
    const std::vector<float> before = run.numbers();
    trainer.run(run.training, run.validation);
    const std::vector<float> after = run.numbers();
    double squares = 0;
    for (std::size_t i = 0; i < before.size(); ++i) squares += std::pow(static_cast<double>(after[i]) - before[i], 2);
    return std::sqrt(squares);
  };
  Run run;
  Batch first;
  run.training.seek({0, 0});
  run.training.next(first);
  const double length = static_cast<double>(first.target_output.tokens.size()) / static_cast<double>(first.size());
  const double tokens = norm_of_step(BatchUnit::tokens, 0), sentences = norm_of_step(BatchUnit::sentences, 0);
  CHECK(sentences / tokens == doctest::Approx(length).epsilon(1e-3));
  CHECK(norm_of_step(BatchUnit::sentences, 1e-3) == doctest::Approx(norm_of_step(BatchUnit::tokens, 1e-3)).epsilon(1e-2));
}

TEST_CASE("trainer: validation and callbacks are optional") {
  Run run, same;
  run.trainer.run(run.training);
  same.trainer.run(same.training, same.validation);
  CHECK(run.trainer.state.step == 16);
  CHECK(run.trainer.state.stale == 0);
  CHECK(run.numbers() == same.numbers());
  Run heard;
  Recorder recorder;
  heard.trainer.run(heard.training, {&recorder});
  CHECK(recorder.steps.size() == 16);
  CHECK(recorder.validations.empty());
  CHECK(recorder.ends == 1);
}

TEST_CASE("trainer: invalid options and null callbacks are errors") {
  Run run;
  const auto refusal = [&](const TrainOptions& options) {
    return error_of([&] { Trainer(run.network, run.adam, ConstantRate{1e-3}, options); });
  };
  CHECK(contains(refusal({.epochs = -1}), "epochs -1"));
  CHECK(contains(refusal({.steps = -1}), "steps -1"));
  CHECK(contains(refusal({.validate_every = -1}), "validate_every -1 must not be negative"));
  CHECK(contains(refusal({.patience = -1}), "patience -1"));
  CHECK(contains(error_of([&] { run.trainer.run(run.training, {nullptr}); }), "one of the callbacks is null"));
  for (const double amount : {-0.1, 1.5, std::nan("")}) {
    Trainer trainer(run.network, run.adam, ConstantRate{1e-3}, {.epochs = 1, .loss = {.amount = amount}});
    CHECK(contains(error_of([&] { trainer.run(run.training); }), "is not in [0, 1]"));
  }
}

TEST_CASE("trainer: lambda callbacks see the network and can stop training") {
  Run run;
  Index steps = 0, validations = 0;
  std::vector<double> norms;
  OnStep on_step([&](const StepReport& report) {
    ++steps;
    REQUIRE(report.gradient_norm);  // Adam clips, so it knows
    norms.push_back(*report.gradient_norm);
  });
  OnValidation on_validation([&](const ValidationReport& report) {
    ++validations;
    CHECK(report.loss == perplexity(run.network, run.validation).mean());
  });
  StopWhen stop([&] { return run.trainer.state.step == 6; });
  run.trainer.run(run.training, run.validation, {&on_step, &on_validation, &stop});
  CHECK(run.trainer.state.step == 6);
  CHECK(steps == 6);
  CHECK(validations == 1);  // after the epoch of 4 steps; a training that is stopped does not validate
  CHECK(*std::min_element(norms.begin(), norms.end()) > 0);

  Run other;  // stopped by its options
  other.stop_at = 6;
  other.trainer.run(other.training, other.validation);
  CHECK(run.numbers() == other.numbers());
}

TEST_CASE("trainer: accepts any callable schedule and any optimiser") {
  Run run, same;
  Sgd by(run.network, {.momentum = 0.9}), by_same(same.network, {.momentum = 0.9});
  Recorder recorder;
  Trainer trainer(run.network, by, [](Index step) { return 0.5f / static_cast<float>(step); },
                  {.epochs = 1, .report_every = 1});
  trainer.run(run.training, run.validation, {&recorder});
  CHECK(trainer.state.step == 8);
  CHECK(recorder.steps[1].rate == 0.25);
  CHECK_FALSE(recorder.steps[0].gradient_norm);  // nobody has computed it
  CHECK(recorder.steps.back().loss < recorder.steps.front().loss);
  struct Halving {
    double operator()(Index step) const { return 0.5 / static_cast<double>(step); }
  };
  Trainer other(same.network, by_same, Halving{}, {.epochs = 1});
  other.run(same.training);
  const auto ours = run.numbers(), theirs = same.numbers();
  CHECK(std::equal(ours.begin(), ours.end(), theirs.begin(), [](float a, float b) { return std::abs(a - b) < 1e-4f; }));
}

TEST_CASE("trainer: a saved model loads in another precision but only in its own shape") {
  Run run;
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  save_model(path, run.parameters, {{"model", "tiny"}});
  const SafetensorsFile file(path);
  CHECK(file.metadata().at("model") == "tiny");
  CHECK(file["encoder.layers.0.attention.in.weight"].shape == std::vector<Index>{48, 16});
  CHECK(file["output.bias"].shape == std::vector<Index>{12});

  using Wide =
      Transformer<Cpu<double>,
                  TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;
  Cpu<double> device;
  Wide wide({.source_vocabulary = 12, .target_vocabulary = 12});
  Parameters<Cpu<double>> parameters(device, wide, 1);
  load_model(file, parameters);
  const auto numbers = parameters.read(parameters.find("output.weight"));
  const auto expected = run.parameters.read(run.parameters.find("output.weight"));
  CHECK(std::equal(numbers.begin(), numbers.end(), expected.begin(), expected.end()));

  Wide other({.source_vocabulary = 12, .target_vocabulary = 13});
  Parameters<Cpu<double>> others(device, other, 1);
  CHECK_THROWS_WITH_AS(load_model(file, others), doctest::Contains("a vocabulary of 12, this one of 13"), Error);
  Transformer<Cpu<double>, TransformerShape{2, 1, 16, 2, 32}> deeper({.source_vocabulary = 12, .target_vocabulary = 12});
  Parameters<Cpu<double>> more(device, deeper, 1);
  CHECK_THROWS_WITH_AS(load_model(file, more), doctest::Contains("there is no tensor 'encoder.layers.1"), Error);
  CHECK_THROWS_WITH_AS(load_training(file, run.parameters, run.adam), doctest::Contains("no training to resume"), Error);
}

TEST_CASE("trainer: prefetched and sharded batches give the same bits") {
  const TemporaryFolder folder;
  const auto trained = [&](Index prefetch, bool shards) {
    Run run;
    ShardPairs pairs;
    for (Index i = 0; i < run.text.size(); ++i) pairs.add(run.text.source[i], run.text.target[i]);
    ShardHeader header;
    header.source_vocabulary = header.target_vocabulary = 12;
    write_shard(folder / "a.shard", header, pairs);
    const ShardedCorpus sharded({folder / "a.shard"});
    if (shards) run.training = Batches(sharded, special_tokens, {.size = 8, .order = BatchOrder::pooled, .seed = 5});
    TrainOptions options = run.options();
    options.prefetch = prefetch;
    Trainer trainer(run.network, run.adam, InverseSquareRoot{16, 20, 0.5}, options);
    Recorder recorder;
    trainer.run(run.training, run.validation, {&recorder});
    for (const StepReport& report : recorder.steps) CHECK((report.waiting >= 0 && report.waiting <= 1));
    CHECK(trainer.state.position == Batches::Position{4, 0});
    CHECK(run.training.position() == Batches::Position{4, 0});
    return run.numbers();
  };
  const std::vector<float> plain = trained(0, false);
  CHECK(plain == trained(1, false));
  CHECK(plain == trained(4, false));
  CHECK(plain == trained(3, true));
}

TEST_CASE("trainer: an error in creating a batch ends training with its message") {
  const TemporaryFolder folder;
  ShardPairs pairs;
  for (Index i = 0; i < 60; ++i) pairs.add(std::vector<Token>{5, 6}, std::vector<Token>{i == 50 ? 12 : 7});
  ShardHeader header;
  header.source_vocabulary = header.target_vocabulary = 12;
  write_shard(folder / "a.shard", header, pairs);
  const ShardedCorpus broken({folder / "a.shard"});
  Run run;
  Batches batches(broken, special_tokens, {.size = 8, .order = BatchOrder::sequential});
  CHECK(contains(error_of([&] { run.trainer.run(batches); }), "a.shard is damaged"));
  CHECK(run.trainer.state.step == 3);
}
