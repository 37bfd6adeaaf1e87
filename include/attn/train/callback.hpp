#pragma once
#include <map>

#include "attn/optim/non_finite.hpp"

namespace attn {

/// A named loss term: its mean since the last report.
struct LossTerm {
  std::string name;
  double value = 0;
};

/// The training steps since the last report.
struct StepReport {
  Index step = 0, epoch = 0;  // completed steps; epochs count from 0
  double loss = 0;            // mean of the first term: for a translation model, negative log-likelihood per target token
  std::vector<LossTerm> terms = {};  // the other loss terms
  double rate = 0;                   // learning rate
  Index tokens = 0;                  // source and target tokens
  double tokens_per_second = 0;
  std::optional<double> gradient_norm = {};           // of the last step, before clipping, if the optimizer computes it
  std::map<std::string, double> gradient_norms = {};  // the same of each layer, if TrainOptions::gradient_norms
  double waiting = 0;                                 // share of time waiting for batches, when the device may be idle
  double communicating = 0;                           // share of time waiting for all-reduce over ranks
  SkippedSteps left_out = {};                         // steps with non-finite gradients
  std::string non_finite_gradient = {};               // the parameter whose gradient ends the training, if any
};

/// Validation on held-out text.
struct ValidationReport {
  Index step = 0, epoch = 0;
  double loss = 0;                         // mean negative log-likelihood per target token, or the whole loss
  double value = 0;                        // selects the best model, lower is better: the whole loss, or minus the score
  bool best = false;                       // the best so far
  std::optional<double> score = {};        // TrainOptions::score, such as BLEU; higher is better
  std::optional<double> source_gain = {};  // see source_gain()
  bool likelihood = true;                  // whether the first term of the loss is a cross-entropy
  /// NaN without a likelihood.
  double perplexity() const { return likelihood ? std::exp(loss) : std::numeric_limits<double>::quiet_NaN(); }
};

/// Receives the events of a training, e.g. for the terminal, a log or checkpoints. A callback may use the network, because
/// no tape records between steps.
struct Callback {
  virtual ~Callback() = default;
  /// Called before every step, with the number of completed steps: 0 before the first one. A resumed training continues
  /// with the next number.
  virtual void on_step_begin(Index) {}
  virtual void on_step(const StepReport&) {}
  virtual void on_validation(const ValidationReport&) {}
  virtual void on_warning(const std::string&) {}  // a problem and its remedy
  virtual void on_end() {}
  /// Called after every step; true ends the training, like TrainOptions::stop. With several ranks, training ends at the
  /// next report at which it returns true.
  virtual bool stop_training() { return false; }
};

// Callbacks from lambdas: OnStep print([&](const StepReport& report) { ... }).

/// Calls `act` with every StepReport.
template <class Act>
struct OnStep : Callback {
  Act act;
  explicit OnStep(Act call) : act(std::move(call)) {}
  void on_step(const StepReport& report) override { act(report); }
};

/// Calls `act` once, after `step` steps and before the next one: AtStep thaw(1000, [&] { network.unfreeze("encoder"); }).
template <class Act>
struct AtStep : Callback {
  Index step;
  Act act;
  AtStep(Index steps, Act call) : step(steps), act(std::move(call)) {}
  void on_step_begin(Index completed) override {
    if (completed == step) act();
  }
};

/// Calls `act` with every ValidationReport.
template <class Act>
struct OnValidation : Callback {
  Act act;
  explicit OnValidation(Act call) : act(std::move(call)) {}
  void on_validation(const ValidationReport& report) override { act(report); }
};

/// Ends the training after the first step at which `condition()` holds.
template <class Condition>
struct StopWhen : Callback {
  Condition condition;
  explicit StopWhen(Condition call) : condition(std::move(call)) {}
  bool stop_training() override { return condition(); }
};

}  // namespace attn
