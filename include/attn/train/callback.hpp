#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/types.hpp"
#include "attn/optim/bad_numbers.hpp"

namespace attn {

/// A named part of a loss: its mean since the last report.
struct LossTerm {
  std::string name;
  double value = 0;
};

/// Some training steps, since the report before.
struct StepReport {
  Index step = 0, epoch = 0;  // steps made so far; epochs count from 0
  double loss = 0;            // mean of the first term: negative log-likelihood per target token of a translation model
  std::vector<LossTerm> terms = {};  // the other terms of the loss, by name
  double rate = 0;                   // of learning
  Index tokens = 0;                  // source and target
  double tokens_per_second = 0;
  std::optional<double> gradient_norm = {};  // of the last step, before clipping; where the optimiser computes it
  double waiting = 0;             // share of the time in which no batch was ready: the device may have stood idle
  double communicating = 0;       // share of the time in which sums over ranks were waited for
  BadSteps left_out = {};         // steps whose gradients were not finite
  std::string bad_gradient = {};  // the parameter whose gradient ends the training, if one does
};

/// The model on text it does not learn from.
struct ValidationReport {
  Index step = 0, epoch = 0;
  double loss = 0;                   // mean negative log-likelihood of a target token
  double value = 0;                  // what decides which model is best, lower is better: the loss, or minus the score
  bool best = false;                 // of all so far
  std::optional<double> score = {};  // of TrainOptions::score, such as BLEU; higher is better
  std::optional<double> source_gain = {};  // see train/source_gain.hpp
  double perplexity() const { return std::exp(loss); }
};

/// What wants to know how a training goes: the terminal, a log, a checkpoint, a picture. One that holds a reference to the
/// network may use it: between steps no tape records.
struct Callback {
  virtual ~Callback() = default;
  virtual void on_step(const StepReport&) {}
  virtual void on_validation(const ValidationReport&) {}
  virtual void on_warning(const std::string&) {}  // that something goes wrong, and what helps
  virtual void on_end() {}
  /// Asked after every step: true ends the training there, as TrainOptions::stop does; on several ranks after the next report
  /// at which it is true.
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
