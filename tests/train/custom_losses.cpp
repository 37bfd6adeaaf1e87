// Training of models whose losses a user wrote.

#include "train/custom_losses.hpp"

#include <doctest/doctest.h>

#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "support/errors.hpp"
#include "support/model_tools.hpp"
#include "train/small_training.hpp"

using namespace custom_losses;
using attn_test::rows_of;
using small_training::copying, small_training::Recorder, small_training::special_tokens;

namespace {

const TransformerOptions options{.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0.1f, 0.1f, 0.1f}};
constexpr BatchOptions in_order{.size = 5, .order = BatchOrder::sequential};

/// The parameters after two epochs, and what was reported.
template <class Model>
std::pair<std::vector<double>, std::vector<StepReport>> train(Index accumulate) {
  Device device(1);
  const ParallelCorpus text = copying(20, 1), held_out = copying(6, 2);
  Network<Model> network(device, options, 7);
  Adam adam(network, {.clip_norm = 1});
  Batches training(text, special_tokens, in_order), validation(held_out, special_tokens, in_order);
  Trainer trainer(network, adam, ConstantRate{1e-2}, {.epochs = 2, .accumulate = accumulate, .report_every = 1});
  Recorder recorder;
  trainer.run(training, validation, {&recorder});
  CHECK(recorder.validations.size() == 2);
  return {{network.parameters.values(), network.parameters.values() + network.parameters.size()}, recorder.steps};
}

}  // namespace

TEST_CASE("custom losses: a loss without options trains the same as one with default options") {
  const auto [expected, reports] = train<Base>(1);
  const auto [numbers, same_reports] = train<WithoutOptions>(1);
  CHECK(numbers == expected);
  REQUIRE(same_reports.size() == reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i) CHECK(same_reports[i].loss == reports[i].loss);
  CHECK(reports.front().terms.empty());
  CHECK(same_reports.front().terms.empty());
  CHECK(reports.back().loss < reports.front().loss);
}

TEST_CASE_TEMPLATE("custom losses: a report has the mean of each named term since the last report", Model, WithActivity,
                   WithActivityWithoutOptions) {
  Device device(1);
  const ParallelCorpus text = copying(23, 1);  // four batches of 5 and one of 3
  Network<Model> network(device, {.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0, 0, 0}}, 7);
  Adam adam(network);
  Batches training(text, special_tokens, in_order);
  double means = 0;
  Batch batch;
  for (training.start_epoch(0); training.next(batch);) {
    Tape<Device> tape(device);
    const auto [source, target, labels] = upload(tape, batch);
    const auto states = network->base.hidden(tape, source, target);
    double squares = 0;
    for (const double number : rows_of(states)) squares += number * number;
    means += squares / static_cast<double>(states.rows() * states.cols());
  }
  const double mean_nll = perplexity(network, training).mean();
  for (const Index accumulate : {1, 2, 5}) {
    Trainer trainer(network, adam, ConstantRate{0}, {.epochs = 1, .accumulate = accumulate, .report_every = 100});
    Recorder recorder;
    trainer.run(training, {&recorder});
    REQUIRE(recorder.steps.size() == 1);
    const StepReport& report = recorder.steps[0];
    CHECK(report.loss == doctest::Approx(mean_nll).epsilon(1e-12));
    REQUIRE(report.terms.size() == 1);
    CHECK(report.terms[0].name == "activity");
    CHECK(report.terms[0].value == doctest::Approx(means / 5).epsilon(1e-12));
  }
  CHECK(means > 1);
}

TEST_CASE("custom losses: a term with a normalizer is reported as a mean over all normalized values") {
  struct CountsRows : Wrapped {
    using Wrapped::Wrapped;
    /// 3 per target token, divided by target tokens: 3, whichever tokens a batch has.
    Loss<Device> loss(Tape<Device>& tape, const Batch& batch) const {
      const auto threes = [rows = 3.0 * static_cast<double>(batch.labels())](Tape<Device>&, double* sums, const double*) {
        sums[0] += rows, sums[1] += rows;
      };
      return base.loss(tape, batch) + Loss<Device>(tape, "three", static_cast<double>(batch.labels()), false, threes);
    }
  };
  const auto reports = train<CountsRows>(2).second;
  REQUIRE(reports.size() == 4);
  for (const StepReport& report : reports) {
    REQUIRE(report.terms.size() == 1);
    CHECK(report.terms[0].name == "three");
    CHECK(report.terms[0].value == doctest::Approx(3).epsilon(1e-12));
  }
}

TEST_CASE("custom losses: a second term is minimized too") {
  const auto [plain, reports] = train<Base>(2);
  const auto [numbers, with_term] = train<WithActivity>(2);
  CHECK(numbers != plain);
  REQUIRE(with_term.size() == 4);
  CHECK(with_term.back().terms.at(0).value < with_term.front().terms.at(0).value);
  CHECK(train<WithActivityWithoutOptions>(1).first == train<WithActivity>(1).first);
}

TEST_CASE("custom losses: more terms than a report supports are an error") {
  struct ManyTerms : Wrapped {
    using Wrapped::Wrapped;
    Loss<Device> loss(Tape<Device>& tape, const Batch& batch) const {
      const Variable<Device> states = base.encode(tape, upload(tape, batch.source));
      Loss<Device> sum = base.loss(tape, batch);
      for (int i = 0; i < 16; ++i) sum += mean(square(states));
      return sum;
    }
  };
  CHECK(contains(error_of([] { train<ManyTerms>(1); }), "a loss has more than 16 terms"));
}

namespace {

/// No cross-entropy: a weighted sum of two mean squares, whose names come from the model.
struct Squares : Wrapped {
  using Wrapped::Wrapped;
  Loss<Device> loss(Tape<Device>& tape, const Batch& batch) const {
    const auto [source, target, labels] = upload(tape, batch);
    const auto states = base.hidden(tape, source, target);
    return 2 * mse(states, 1).named("near one") + 0.5 * mean(square(states));
  }
};

/// The value of the loss of each batch, weighted by its target tokens.
template <class Model>
double mean_value(const Network<Model>& network, Batches& text) {
  double sum = 0, tokens = 0;
  Batch batch;
  for (text.start_epoch(0); text.next(batch);) {
    Tape<Device> tape(network.device());
    sum += static_cast<double>(batch.labels()) * network->loss(tape, batch).value();
    tokens += static_cast<double>(batch.labels());
  }
  return sum / tokens;
}

}  // namespace

TEST_CASE_TEMPLATE("validation: the best model has the lowest total training loss for any terms", Model, Base, WithActivity,
                   Squares) {
  constexpr bool kLikelihood = !std::is_same_v<Model, Squares>;
  Device device(1);
  const ParallelCorpus text = copying(20, 1), held_out = copying(13, 2);  // batches of 5, 5 and 3
  Network<Model> network(device, options, 7);
  Adam adam(network);
  Batches training(text, special_tokens, in_order), validation(held_out, special_tokens, in_order);
  Batches again(held_out, special_tokens, in_order);
  Trainer trainer(network, adam, ConstantRate{1e-2}, {.epochs = 3});
  std::vector<double> losses, values;
  OnValidation check([&](const ValidationReport& report) {
    const double value = mean_value(network, again);
    CHECK(report.value == doctest::Approx(value).epsilon(1e-12));
    CHECK(report.likelihood == kLikelihood);
    if constexpr (kLikelihood) {
      CHECK(report.loss == perplexity(network, again).mean());
      CHECK(report.perplexity() == std::exp(report.loss));
    } else {
      CHECK(report.loss == report.value);
      CHECK(std::isnan(report.perplexity()));
      CHECK(!report.source_gain);
    }
    losses.push_back(report.loss), values.push_back(report.value);
  });
  trainer.run(training, validation, {&check});
  REQUIRE(values.size() == 3);
  CHECK(trainer.state.best == *std::ranges::min_element(values));
  CHECK(values.back() < values.front());
  CHECK((losses == values) == !std::is_same_v<Model, WithActivity>);
}

TEST_CASE("perplexity: requires a cross-entropy as the first term") {
  Device device(1);
  const ParallelCorpus held_out = copying(6, 2);
  Network<Squares> network(device, options, 7);
  Batches validation(held_out, special_tokens, in_order);
  CHECK(contains(error_of([&] { perplexity(network, validation); }),
                 "first term of the model's loss must be a cross-entropy"));
}
