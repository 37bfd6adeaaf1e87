#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "attn/core/format_count.hpp"
#include "attn/core/network.hpp"
#include "attn/data/batches.hpp"
#include "attn/data/prefetch.hpp"
#include "attn/optim/averaged.hpp"
#include "attn/optim/optimiser.hpp"
#include "attn/optim/schedules.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/train/bad_gradient.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/loss_terms.hpp"
#include "attn/train/perplexity_of_text.hpp"
#include "attn/train/source_gain.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

/// Trains a network: batches in, steps of the optimiser, validations, callbacks. The same seeds give the same bits, and a
/// training that was stopped and resumed gives the bits of one that was not.
///
///     Trainer trainer(network, adam, Constant{1e-3}, {.epochs = 4});
///     trainer.run(training, validation, {&terminal, &log});
///
/// The gradient of a step is that of one batch of all the sentences that its batches have together. On several ranks
/// (parallel/data_parallel.hpp) a step has `accumulate` batches of each of them, those that one process would learn from which
/// accumulates so many times as many.
template <class Model, class Optim, class Rate>
class Trainer {
 public:
  static_assert(Optimiser<Optim>,
                "attn: Trainer: an optimiser has  name, step(rate), steps(), set_steps(n), for_each_state(visit)");
  static_assert(Schedule<Rate>,
                "attn: Trainer: a schedule is called with a step and gives its rate:  double (Index) const");
  using Device = typename Model::DeviceType;

  Trainer(Network<Model>& trained, Optim& by, Rate rate, TrainOptions options = {}, DataParallel<Device>* ranks = nullptr)
      : network(trained),
        optimiser(by),
        rate_(std::move(rate)),
        options_(std::move(options)),
        ranks_(ranks != nullptr && !ranks->communicator().alone() ? ranks : nullptr),
        share_{ranks_ ? ranks_->rank() : 0, ranks_ ? ranks_->ranks() : 1},
        terms_(trained.device()),
        group_(static_cast<std::size_t>(std::max<Index>(options_.accumulate, 1) + 1)) {
    check(options_);
    set_bad_numbers(optimiser, options_.bad_numbers);
  }

  Network<Model>& network;
  Optim& optimiser;
  TrainState state;
  DataParallel<Device>* ranks() const { return ranks_; }  // those it trains with, if it is not alone

  /// Trains until the last epoch, or until asked to stop; with a validation text, or until validation no longer improves.
  void run(Batches& training, const std::vector<Callback*>& callbacks = {}) { run(training, nullptr, callbacks); }
  void run(Batches& training, Batches& validation, const std::vector<Callback*>& callbacks = {}) {
    require(&training != &validation,
            "Trainer: training and validation take turns at one Batches; make two, which may be of the same corpus");
    run(training, &validation, callbacks);
  }

 private:
  using Callbacks = std::vector<Callback*>;
  using Clock = std::chrono::steady_clock;

  bool unfinished() const {
    return state.position.epoch < options_.epochs && (options_.steps == 0 || state.step < options_.steps) &&
           (options_.patience == 0 || state.stale < options_.patience);
  }
  /// Several ranks stop together: they ask each other after a report, not after every step.
  bool stopped(const Callbacks& callbacks) const {
    bool stop = options_.stop();
    for (Callback* callback : callbacks) stop = callback->stop_training() || stop;
    if (ranks_ == nullptr) return stop;
    return reported_ == state.step && ranks_->communicator().any(stop);
  }
  Communicator* communicator() const { return ranks_ ? &ranks_->communicator() : nullptr; }
  void watch_backward(Batches& text);
  void run(Batches& training, Batches* validation, const Callbacks& callbacks);
  bool step(Prefetch& training);
  Loss<Device> loss_of(Tape<Device>& tape, const Batch& batch, const LossOptions& options) const;
  void report(const Prefetch& training, const Callbacks& callbacks);
  void validate(Batches& validation, const Callbacks& callbacks);
  /// Whether gradients since the last report were not finite.
  bool bad_steps() {
    const BadSteps more = take_bad_steps(optimiser);
    bad_ = {bad_.count + more.count, bad_.count == 0 ? more.first : bad_.first};
    return bad_.count > 0;
  }
  void tell_bad_steps(StepReport& report, const Callbacks& callbacks);

  Rate rate_;
  TrainOptions options_;
  DataParallel<Device>* ranks_;
  BatchShare share_;
  std::function<void(GradientRange<typename Device::Real>)> complete_ = [this](auto range) { ranks_->complete(range); };
  LossTerms<Device> terms_;                              // since the last report
  std::vector<Batch> group_;                             // a step's batches, and room for one of another rank
  Index tokens_ = 0, target_tokens_ = 0, reported_ = 0;  // since, since, at
  double waited_ = 0, summed_ = 0;                       // for batches, on sums over ranks; until the last report
  BadSteps bad_;                                         // since
  Index in_a_row_ = 0;                                   // steps that were left out, one after another
  Clock::time_point since_;
};

template <class Model, class Optim, class Rate>
void Trainer<Model, Optim, Rate>::run(Batches& text, Batches* validation, const Callbacks& callbacks) {
  static_assert(
      requires(const Model& model, Tape<Device>& tape, const Batch& batch) {
        { model.loss(tape, batch) } -> std::same_as<Loss<Device>>;
      },
      "attn: Trainer: a model has  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) "
      "const; "
      "the options may be left out");
  require(std::ranges::find(callbacks, nullptr) == callbacks.end(), "Trainer: one of the callbacks is null");
  terms_.clear();
  tokens_ = target_tokens_ = 0;
  reported_ = state.step;
  since_ = Clock::now();
  waited_ = 0;
  if (ranks_) watch_backward(text), summed_ = ranks_->seconds();
  Prefetch training(text, state.position, options_.prefetch, share_);
  if (validation != nullptr && options_.validate_first && std::isinf(state.best))
    validate(*validation, callbacks), since_ = Clock::now();
  bool stop = false;
  while (!stop && unfinished()) {
    const bool ended = !step(training);
    if (ended || state.step - reported_ >= options_.report_every) report(training, callbacks);
    if (ended) training.next_epoch();
    state.position = training.position();
    if (validation != nullptr &&
        (options_.validate_every > 0 ? !ended && state.step % options_.validate_every == 0 : ended)) {
      report(training, callbacks);  // before anything is saved
      validate(*validation, callbacks);
      since_ = Clock::now();  // validation is not training's time
    }
    stop = unfinished() && stopped(callbacks);
  }
  report(training, callbacks);
  const bool asked = options_.stop(), stopping = ranks_ ? communicator()->any(asked) : asked;
  if (validation != nullptr && state.validated < state.step && !stop && !stopping)
    validate(*validation, callbacks);  // what comes after the last interval counts too, and what a stop left out
  for (Callback* callback : callbacks) callback->on_end();
}

/// Learns from one pass in which order gradients become complete: the same at all ranks, though not each has a batch in every
/// step.
template <class Model, class Optim, class Rate>
void Trainer<Model, Optim, Rate>::watch_backward(Batches& text) {
  std::vector<GradientRange<typename Device::Real>> completed;
  std::function<void(GradientRange<typename Device::Real>)> note = [&](auto range) { completed.push_back(range); };
  Batch batch;
  text.start_epoch(0);
  text.next(batch);
  {
    Tape<Device> tape(network.device(), TapeMode::training(0, 0));
    tape.on_complete = &note;
    network->loss(tape, batch).backward();
  }
  network.device().zero(network.parameters.gradients(), network.parameters.size());
  ranks_->plan(completed);
}

/// One step of the optimiser; false when the epoch has no batch left for it.
template <class Model, class Optim, class Rate>
bool Trainer<Model, Optim, Rate>::step(Prefetch& training) {
  const Index most = options_.accumulate * share_.ranks;
  Index dealt = 0;
  std::size_t mine = 0;
  BatchSize size;
  for (; dealt < most && training.next(group_[mine]); ++dealt) {
    size += training.size();
    if (dealt % share_.ranks == share_.rank) ++mine;
  }
  if (dealt == 0) return false;
  tokens_ += size.tokens;
  target_tokens_ += size.labels;
  LossOptions loss = options_.loss;
  loss.normalizer = static_cast<double>(options_.mean == BatchUnit::tokens ? size.labels : size.sentences);
  for (std::size_t i = 0; i < mine; ++i) {
    const Index place = static_cast<Index>(i) * share_.ranks + share_.rank;
    Tape<Device> tape(network.device(),
                      TapeMode::training(options_.seed, static_cast<std::uint64_t>(state.step * most + place)));
    if (ranks_ && i + 1 == mine) tape.on_complete = &complete_;
    Loss<Device> value = loss_of(tape, group_[i], loss);
    terms_.add(value);
    value.add_sums_to(terms_.sums());
    value.backward();
  }
  if (ranks_) ranks_->finish();
  const auto rate = static_cast<double>(rate_(state.step + 1));
  require(std::isfinite(rate), "Trainer: the schedule gives step ", state.step + 1, " a learning rate of ", rate);
  ++state.step;
  optimiser.step(rate);
  return true;
}

/// The loss of one batch of a step. A cross-entropy that takes the options is divided by the labels or sentences of the
/// whole step. Other terms are means over their batch. They are weighted by the batch's share of the step, so that several
/// batches give the gradient of one.
template <class Model, class Optim, class Rate>
Loss<typename Model::DeviceType> Trainer<Model, Optim, Rate>::loss_of(Tape<Device>& tape, const Batch& batch,
                                                                      const LossOptions& options) const {
  const Index counted = options_.mean == BatchUnit::tokens ? batch.labels() : batch.size();
  const double share = options.normalizer > 0 ? static_cast<double>(counted) / options.normalizer : 1;
  if constexpr (requires { network->loss(tape, batch, options); })
    return network->loss(tape, batch, options).scaled([=](const auto& term) { return term.labels > 0 ? 1 : share; });
  else
    return share * network->loss(tape, batch);
}

template <class Model, class Optim, class Rate>
void Trainer<Model, Optim, Rate>::report(const Prefetch& training, const Callbacks& callbacks) {
  if (target_tokens_ == 0) return;
  const std::vector<LossTerm>& terms = terms_.read(communicator());
  terms_.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  StepReport report{.step = state.step,
                    .epoch = state.position.epoch,
                    .loss = terms.empty() ? 0 : terms.front().value,
                    .terms = {terms.begin() + (terms.empty() ? 0 : 1), terms.end()},
                    .rate = static_cast<double>(rate_(state.step)),
                    .tokens = tokens_,
                    .tokens_per_second = static_cast<double>(tokens_) / seconds,
                    .gradient_norm = gradient_norm(optimiser),
                    .waiting = std::min(1.0, (training.seconds_waited() - waited_) / seconds),
                    .communicating = ranks_ ? std::min(1.0, (ranks_->seconds() - summed_) / seconds) : 0};
  tell_bad_steps(report, callbacks);
  for (Callback* callback : callbacks) callback->on_step(report);
  require(report.bad_gradient.empty(), "step ", report.left_out.first, ": the gradient of '", report.bad_gradient,
          "' is not finite: lower the learning rate, or leave such steps out (TrainOptions::bad_numbers)");
  require(std::isfinite(report.loss) || report.left_out.count > 0, "step ", report.step, ": the training loss is ",
          report.loss, ": begin again with a lower learning rate");
  tokens_ = target_tokens_ = 0;
  reported_ = state.step;
  waited_ = training.seconds_waited();
  if (ranks_) summed_ = ranks_->seconds();
  since_ = Clock::now();
}

/// Steps since the last report whose gradients are not finite end the training, or are told.
template <class Model, class Optim, class Rate>
void Trainer<Model, Optim, Rate>::tell_bad_steps(StepReport& report, const Callbacks& callbacks) {
  if (!bad_steps()) {
    in_a_row_ = 0;
    return;
  }
  const auto [count, first] = report.left_out = std::exchange(bad_, {});
  if (options_.bad_numbers == BadNumbers::stop) {
    report.bad_gradient = first_bad_gradient(network.parameters);
    return;
  }
  const Index made = state.step - reported_;
  in_a_row_ = count == made ? in_a_row_ + made : 0;
  require(in_a_row_ < 10, "step ", state.step, ": the gradients of the last ", in_a_row_,
          " steps were not finite, and all of them were left out: begin again with a lower learning rate");
  const std::string text = "the gradients of " + counted(count, "step") + " of the last " + std::to_string(made) +
                           " were not finite, the first those of step " + std::to_string(first) +
                           ": such steps are left out";
  for (Callback* callback : callbacks) callback->on_warning(text);
}

template <class Model, class Optim, class Rate>
void Trainer<Model, Optim, Rate>::validate(Batches& validation, const Callbacks& callbacks) {
  ValidationReport report{.step = state.step, .epoch = state.position.epoch};
  {
    const WeightsToUse use(optimiser);
    report.loss = perplexity(network, validation, communicator()).mean();
    report.source_gain = source_gain(network, validation);
    if (options_.score) report.score = options_.score();
  }
  report.value = options_.best_by == BestBy::loss ? report.loss : -*report.score;
  report.best = report.value < state.best;
  state.stale = report.best ? 0 : state.stale + 1;
  if (report.best) state.best = report.value;
  state.validated = state.step;
  for (Callback* callback : callbacks) callback->on_validation(report);
  require(std::isfinite(report.loss), "step ", report.step, ": the validation loss is ", report.loss,
          ": begin again with a lower learning rate");
}

}  // namespace attn
