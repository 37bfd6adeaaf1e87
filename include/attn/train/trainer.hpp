#pragma once
#include "attn/data/prefetch.hpp"
#include "attn/optim/any_optimiser.hpp"
#include "attn/optim/schedules.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/train/layer_gradient_norms.hpp"
#include "attn/train/perplexity_of_text.hpp"
#include "attn/train/source_gain.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

/// The first parameter with a non-finite gradient. If all are finite and only the squared norm overflows, the parameter
/// with the largest gradient.
template <class Device>
std::string first_non_finite_gradient(const Parameters<Device>& parameters) {
  std::string worst;
  double most = -1;
  for (const auto& entry : parameters.entries()) {
    double largest = 0;
    for (const auto number : parameters.read_gradient(entry)) {
      if (!std::isfinite(number)) return entry.name;
      largest = std::max(largest, std::abs(static_cast<double>(number)));
    }
    if (largest > most) most = largest, worst = entry.name;
  }
  return worst;
}

/// The training loop of a network: batches, optimizer steps, validations, callbacks. Equal seeds give bitwise equal
/// results, also if a training is stopped and resumed.
///
///     Trainer trainer(network, adam, ConstantRate{1e-3}, {.epochs = 4});
///     trainer.run(training, validation, {&terminal, &log});
///
/// The gradient of a step equals that of one batch with the sentences of all its batches. With several ranks
/// (parallel/data_parallel.hpp), a step has `accumulate` batches per rank: those that a single process would use if it
/// accumulated `accumulate` times the number of ranks.
template <class Device>
class Trainer {
 public:
  template <class Model, class Optim, class Rate>
  Trainer(Network<Model>& network, Optim& by, Rate rate, TrainOptions options = {}, DataParallel<Device>* ranks = nullptr)
      : Trainer(network.parameters, network, checked_optimiser(by), checked_schedule(std::move(rate)), std::move(options),
                ranks) {}

  /// The same, for programs that select model, optimiser or schedule at run time.
  Trainer(Parameters<Device>& trained, BatchLoss<Device> loss, AnyOptimiser<Device> by, std::function<double(Index)> rate,
          TrainOptions options, DataParallel<Device>* ranks)
      : parameters(trained),
        optimiser(std::move(by)),
        loss_(std::move(loss)),
        rate_(std::move(rate)),
        options_(std::move(options)),
        ranks_(ranks != nullptr && !ranks->communicator().alone() ? ranks : nullptr),
        share_{ranks_ ? ranks_->rank() : 0, ranks_ ? ranks_->ranks() : 1},
        terms_(trained.device()),
        group_(static_cast<std::size_t>(std::max<Index>(options_.accumulate, 1) + 1)) {
    check_options(options_);
    optimiser.set_non_finite(options_.non_finite);
    if (options_.gradient_norms) layer_norms_.emplace(parameters, ranks_ ? ranks_->share() : UpdateShare<Device>());
  }

  Parameters<Device>& parameters;
  const AnyOptimiser<Device> optimiser;
  TrainState state;
  DataParallel<Device>* ranks() const { return ranks_; }  // null for a single process

  /// Trains until the last epoch or a stop. With validation text, also stops when validation no longer improves (patience).
  void run(Batches& training, const std::vector<Callback*>& callbacks = {}) { run(training, nullptr, callbacks); }
  void run(Batches& training, Batches& validation, const std::vector<Callback*>& callbacks = {}) {
    require(&training != &validation,
            "Trainer: training and validation cannot share one Batches. Create two; they can use the same corpus.");
    run(training, &validation, callbacks);
  }

 private:
  using Real = typename Device::Real;
  using Callbacks = std::vector<Callback*>;
  using Clock = std::chrono::steady_clock;

  template <class Optim>
  static AnyOptimiser<Device> checked_optimiser(Optim& by) {
    static_assert(Optimiser<Optim>,
                  "attn: Trainer: an optimiser needs  name, step(rate), steps(), set_steps(n), for_each_state(visit)");
    return by;
  }
  template <class Rate>
  static std::function<double(Index)> checked_schedule(Rate rate) {
    static_assert(Schedule<Rate>, "attn: Trainer: a schedule needs  double operator()(Index step) const");
    return [rate = std::move(rate)](Index step) { return static_cast<double>(rate(step)); };
  }
  Device& device() const { return parameters.device(); }

  bool unfinished() const {
    return state.position.epoch < options_.epochs && (options_.steps == 0 || state.step < options_.steps) &&
           (options_.patience == 0 || state.stale < options_.patience);
  }
  /// With several ranks, they agree on stopping only after a report, not after every step.
  bool stopped(const Callbacks& callbacks) const {
    bool stop = options_.stop();
    for (Callback* callback : callbacks) stop = callback->stop_training() || stop;
    if (ranks_ == nullptr) return stop;
    return reported_ == state.step && ranks_->communicator().any(stop);
  }
  Communicator* communicator() const { return ranks_ ? &ranks_->communicator() : nullptr; }
  /// Runs one pass to find the order in which gradients become complete. All ranks need the same order, though not every rank
  /// has a batch in every step.
  void watch_backward(Batches& text) {
    std::vector<GradientRange<Real>> completed;
    std::function<void(GradientRange<Real>)> note = [&](auto range) { completed.push_back(range); };
    Batch batch;
    text.start_epoch(0);
    text.next(batch);
    {
      Tape<Device> tape(device(), TapeMode::training(0, 0));
      tape.on_complete = &note;
      loss_(tape, batch).backward();
    }
    device().zero(parameters.gradients(), parameters.size());
    ranks_->plan(completed);
  }
  void run(Batches& text, Batches* validation, const Callbacks& callbacks) {
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
      const bool ended = !step(training, callbacks);
      if (ended || state.step - reported_ >= options_.report_every) report(training, callbacks);
      if (ended) training.next_epoch();
      state.position = training.position();
      if (validation != nullptr &&
          (options_.validate_every > 0 ? !ended && state.step % options_.validate_every == 0 : ended)) {
        report(training, callbacks);  // report before anything is saved
        validate(*validation, callbacks);
        since_ = Clock::now();  // excludes validation from the training time
      }
      stop = unfinished() && stopped(callbacks);
    }
    report(training, callbacks);
    const bool asked = options_.stop(), stopping = ranks_ ? communicator()->any(asked) : asked;
    if (validation != nullptr && state.validated < state.step && !stop && !stopping)
      validate(*validation, callbacks);  // after a stop, and for the steps since the last validation
    for (Callback* callback : callbacks) callback->on_end();
  }
  /// One optimizer step; false if the epoch has no batches left.
  bool step(Prefetch& training, const Callbacks& callbacks) {
    const Index most = options_.accumulate * share_.ranks;
    Index dealt = 0;
    std::size_t mine = 0;
    BatchSize size;
    for (; dealt < most && training.next(group_[mine]); ++dealt) {
      size += training.size();
      if (dealt % share_.ranks == share_.rank) ++mine;
    }
    if (dealt == 0) return false;
    for (Callback* callback : callbacks) callback->on_step_begin(state.step);
    tokens_ += size.tokens;
    target_tokens_ += size.labels;
    const bool by_tokens = options_.mean == BatchUnit::tokens;
    const auto total = static_cast<double>(by_tokens ? size.labels : size.sentences);
    LossOptions loss = options_.loss;
    loss.normalizer = total;
    for (std::size_t i = 0; i < mine; ++i) {
      if (ranks_) communicator()->begin_batch();
      const Index place = static_cast<Index>(i) * share_.ranks + share_.rank;
      Tape<Device> tape(device(), TapeMode::training(options_.seed, static_cast<std::uint64_t>(state.step * most + place)));
      if (ranks_ && i + 1 == mine) tape.on_complete = &complete_;
      const auto part = static_cast<double>(by_tokens ? group_[i].labels() : group_[i].size());
      Loss<Device> value = loss_.share_of_step(tape, group_[i], loss, total > 0 ? part / total : 1);
      terms_.add(value);
      value.add_sums_to(terms_.sums());
      value.backward();
    }
    if (ranks_) ranks_->finish();
    const double rate = rate_(state.step + 1);
    require(std::isfinite(rate), "Trainer: the learning rate of step ", state.step + 1, " is ", rate,
            ". Correct the schedule.");
    ++state.step;
    if (layer_norms_) layer_norms_->compute();
    optimiser.step(rate);
    if (ranks_) communicator()->end_step();
    return true;
  }
  void report(const Prefetch& training, const Callbacks& callbacks) {
    if (target_tokens_ == 0) return;
    const std::vector<LossTerm>& terms = terms_.read(communicator());
    terms_.clear();
    const double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
    StepReport report{.step = state.step,
                      .epoch = state.position.epoch,
                      .loss = terms.empty() ? 0 : terms.front().value,
                      .terms = {terms.begin() + (terms.empty() ? 0 : 1), terms.end()},
                      .rate = rate_(state.step),
                      .tokens = tokens_,
                      .tokens_per_second = static_cast<double>(tokens_) / seconds,
                      .gradient_norm = optimiser.gradient_norm(),
                      .gradient_norms = layer_norms_ ? layer_norms_->read(communicator()) : std::map<std::string, double>(),
                      .waiting = std::min(1.0, (training.seconds_waited() - waited_) / seconds),
                      .communicating = ranks_ ? std::min(1.0, (ranks_->seconds() - summed_) / seconds) : 0};
    report_skipped_steps(report, callbacks);
    for (Callback* callback : callbacks) callback->on_step(report);
    require(report.non_finite_gradient.empty(), "step ", report.left_out.first, ": the gradient of '",
            report.non_finite_gradient, "' is not finite. Lower the learning rate, or skip such steps (NonFinite::skip).");
    require(std::isfinite(report.loss) || report.left_out.count > 0, "step ", report.step, ": the training loss is ",
            report.loss, ". Start again with a lower learning rate.");
    tokens_ = target_tokens_ = 0;
    reported_ = state.step;
    waited_ = training.seconds_waited();
    if (ranks_) summed_ = ranks_->seconds();
    since_ = Clock::now();
  }
  void validate(Batches& validation, const Callbacks& callbacks) {
    ValidationReport report{.step = state.step, .epoch = state.position.epoch};
    {
      const ScopedWeights use(optimiser);
      const auto [whole, first] = loss_of_text(device(), loss_, validation, communicator());
      report.likelihood = first.tokens() > 0;
      report.loss = report.likelihood ? first.mean() : whole;
      report.value = whole;
      report.source_gain = source_gain(device(), loss_, validation);
      if (options_.score) report.score = options_.score();
    }
    if (options_.best_by == BestBy::score) report.value = -*report.score;
    report.best = report.value < state.best;
    state.stale = report.best ? 0 : state.stale + 1;
    if (report.best) state.best = report.value;
    state.validated = state.step;
    for (Callback* callback : callbacks) callback->on_validation(report);
    require(std::isfinite(report.loss), "step ", report.step, ": the validation loss is ", report.loss,
            ". Start again with a lower learning rate.");
  }
  /// Handles steps since the last report with non-finite gradients: ends the training, or warns.
  void report_skipped_steps(StepReport& report, const Callbacks& callbacks) {
    const auto [count, first] = report.left_out = optimiser.take_skipped_steps();
    if (count == 0) {
      in_a_row_ = 0;
      return;
    }
    if (options_.non_finite == NonFinite::stop) {
      report.non_finite_gradient = first_non_finite_gradient(parameters);
      return;
    }
    const Index made = state.step - reported_;
    in_a_row_ = count == made ? in_a_row_ + made : 0;
    require(in_a_row_ < 10, "step ", state.step, ": the gradients of the last ", in_a_row_,
            " steps were not finite, and all were skipped. Start again with a lower learning rate.");
    const std::string text = "skipped " + counted(count, "step") + " of the last " + std::to_string(made) +
                             ", the first at step " + std::to_string(first) + ": gradients were not finite";
    for (Callback* callback : callbacks) callback->on_warning(text);
  }

  BatchLoss<Device> loss_;
  std::function<double(Index)> rate_;
  TrainOptions options_;
  DataParallel<Device>* ranks_;
  BatchShare share_;
  std::function<void(GradientRange<Real>)> complete_ = [this](auto range) { ranks_->complete(range); };
  std::optional<LayerGradientNorms<Device>> layer_norms_;
  LossTerms<Device> terms_;                              // since the last report
  std::vector<Batch> group_;                             // a step's batches, and one slot for batches of other ranks
  Index tokens_ = 0, target_tokens_ = 0, reported_ = 0;  // since the last report; step of the last report
  double waited_ = 0, summed_ = 0;                       // waits for batches and for all-reduce, until the last report
  Index in_a_row_ = 0;                                   // consecutive skipped steps
  Clock::time_point since_;
};

template <class Model, class Optim, class Rate>
Trainer(Network<Model>&, Optim&, Rate, TrainOptions = {}, DataParallel<typename Model::DeviceType>* = nullptr)
    -> Trainer<typename Model::DeviceType>;

}  // namespace attn
