#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "attn/data/batches.hpp"
#include "attn/metrics/perplexity.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/schedules.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/train_options.hpp"

namespace attn {

/// How well a model predicts a text: each token from the source and the target before it. Each batch has sums of its own,
/// which are read when all are done: the device never waits for the host, and the total is one of doubles.
template <class Device, class Model>
Perplexity perplexity(Device& device, const Model& model, Batches& text) {
  using Real = typename Device::Real;
  text.start_epoch(0);
  std::vector<Real> sums(static_cast<std::size_t>(2 * text.batches_per_epoch()));
  const Buffer<Real, typename Device::Memory> on_device(std::ssize(sums), "sums of losses");
  device.zero(on_device.data(), on_device.size());
  std::vector<Index> tokens;
  for (Batch batch; text.next(batch);) {
    Tape<Device> tape(device);
    Real* place = on_device.data() + 2 * std::ssize(tokens);
    tokens.push_back(model.loss(tape, batch, {}, place).tokens);
  }
  device.download(sums.data(), on_device.data(), on_device.size());
  Perplexity result;
  for (std::size_t i = 0; i < tokens.size(); ++i) result.add(static_cast<double>(sums[2 * i]), tokens[i]);
  return result;
}

/// Trains a model: batches in, steps of the optimiser, validations, callbacks. The same seeds give the same bits, and a
/// training that was stopped and resumed gives the bits of one that was not.
template <class Device, class Model, Schedule Rate>
class Trainer {
 public:
  Trainer(Device& device, const Model& model, Adam<Device>& adam, Rate rate, TrainOptions options)
      : device_(device), model_(model), adam_(adam), rate_(rate), options_(options), sums_(2, "sums of losses") {}

  TrainState state;

  /// Trains until the last epoch, until validation no longer improves, or until asked to stop.
  void run(Batches& training, Batches& validation, std::span<Callback* const> callbacks);

 private:
  using Clock = std::chrono::steady_clock;

  bool unfinished() const {
    return state.position.epoch < options_.epochs && (options_.steps == 0 || state.step < options_.steps) &&
           (options_.patience == 0 || state.stale < options_.patience);
  }
  bool step(Batches& training);
  void report(std::span<Callback* const> callbacks);
  void validate(Batches& validation, std::span<Callback* const> callbacks);

  Device& device_;
  const Model& model_;
  Adam<Device>& adam_;
  Rate rate_;
  TrainOptions options_;
  Buffer<typename Device::Real, typename Device::Memory> sums_;  // of losses since the last report
  Batch batch_;
  Index tokens_ = 0, target_tokens_ = 0, reported_ = 0;  // since, since, at
  Clock::time_point since_;
};

template <class Device, class Model, Schedule Rate>
void Trainer<Device, Model, Rate>::run(Batches& training, Batches& validation, std::span<Callback* const> callbacks) {
  device_.zero(sums_.data(), 2);
  tokens_ = target_tokens_ = 0;
  reported_ = state.step;
  since_ = Clock::now();
  training.seek(state.position);
  Index validated = state.step;
  for (bool going = unfinished(); going; going = unfinished() && !options_.stop()) {
    const bool ended = !step(training);
    if (ended || state.step - reported_ >= options_.report_every) report(callbacks);
    if (ended) training.start_epoch(state.position.epoch + 1);
    state.position = training.position();
    if (options_.validate_every > 0 ? !ended && state.step % options_.validate_every == 0 : ended) {
      validate(validation, callbacks);
      validated = state.step;
      since_ = Clock::now();  // validation is not training's time
    }
  }
  report(callbacks);
  if (validated < state.step && !options_.stop())
    validate(validation, callbacks);  // what comes after the last interval counts too
  for (Callback* callback : callbacks) callback->on_end();
}

/// One step of the optimiser; false when the epoch has no batch left for it.
template <class Device, class Model, Schedule Rate>
bool Trainer<Device, Model, Rate>::step(Batches& training) {
  Index batches = 0;
  while (batches < options_.accumulate && training.next(batch_)) {
    const auto key = static_cast<std::uint64_t>(state.step * options_.accumulate + batches++);
    Tape<Device> tape(device_, TapeMode::training(options_.seed, key));
    LossOptions loss = options_.loss;
    const auto targets = static_cast<Index>(batch_.target_output.tokens.size());
    loss.normalizer = static_cast<double>((options_.mean == BatchUnit::tokens ? targets : batch_.target_output.size()) *
                                          options_.accumulate);
    model_.loss(tape, batch_, loss, sums_.data());
    tape.backward();
    target_tokens_ += targets;
    tokens_ += targets + static_cast<Index>(batch_.source.tokens.size());
  }
  if (batches == 0) return false;
  adam_.step(rate_(++state.step));
  return true;
}

template <class Device, class Model, Schedule Rate>
void Trainer<Device, Model, Rate>::report(std::span<Callback* const> callbacks) {
  if (target_tokens_ == 0) return;
  typename Device::Real sums[2];
  device_.download(sums, sums_.data(), 2);
  device_.zero(sums_.data(), 2);
  const double seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  const StepReport report{.step = state.step,
                          .epoch = state.position.epoch,
                          .loss = static_cast<double>(sums[0]) / static_cast<double>(target_tokens_),
                          .rate = rate_(state.step),
                          .tokens = tokens_,
                          .tokens_per_second = static_cast<double>(tokens_) / seconds};
  for (Callback* callback : callbacks) callback->on_step(report);
  tokens_ = target_tokens_ = 0;
  reported_ = state.step;
  since_ = Clock::now();
}

template <class Device, class Model, Schedule Rate>
void Trainer<Device, Model, Rate>::validate(Batches& validation, std::span<Callback* const> callbacks) {
  ValidationReport report{state.step, state.position.epoch, perplexity(device_, model_, validation).mean()};
  report.best = report.loss < state.best;
  state.stale = report.best ? 0 : state.stale + 1;
  if (report.best) state.best = report.loss;
  for (Callback* callback : callbacks) callback->on_validation(report);
}

}  // namespace attn
