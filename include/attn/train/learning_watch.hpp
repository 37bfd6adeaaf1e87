#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attn/train/callback.hpp"
#include "attn/train/progress.hpp"

namespace attn {

/// Says, while a training runs, that it does not learn, and what helps; each thing once. It looks at
///
///   the loss       training loss, a mean of 10 reports, 0.5 nats or more above the lowest such mean
///   the gradients  their norm 20 times its median of the last 100 reports or more, three reports in a row
///   the source     exchanging sources costs less than 0.1 nats a token (train/source_gain.hpp) at the fifth validation or later, after a third
///                  of the steps; or, after three quarters of them, less than 3/8 of what a token costs: 0.36 of it for a model of BLEU 1.3,
///                  0.4 and rising for one that 10,000 pairs are too few for, 1.8 for one that translates
///   validation     loss of more than 20 nats, which is guessing among 485 million tokens; or that has not fallen by 1 % in four validations while the source is worth less than 1 nat
class LearningWatch : public Callback {
 public:
  /// steps: of the whole training, where that is known.
  explicit LearningWatch(std::function<void(const std::string&)> say, Index steps = 0)
      : say_(std::move(say)), steps_(steps) {}

  void on_step(const StepReport& report) override {
    losses_.push_back(report.loss);
    if (losses_.size() > kWindow) losses_.erase(losses_.begin());
    if (losses_.size() == kWindow) {
      double mean = 0;
      for (const double loss : losses_) mean += loss / static_cast<double>(kWindow);
      lowest_ = std::min(lowest_, mean);
      if (mean >= lowest_ + 0.5)
        warn("loss", "the training loss has risen from " + format_decimals(lowest_, 2) + " to " + format_decimals(mean, 2) +
                         " by step " + format_count(report.step) + ": the learning rate is too high; " + gentler_);
    }
    if (report.gradient_norm) watch_norm(report.step, *report.gradient_norm);
  }

  void on_validation(const ValidationReport& report) override {
    validations_.push_back(report.loss);
    if (report.loss > 20)
      warn("diverged", "the validation loss is " + format_decimals(report.loss, 1) +
                           ", more than that of guessing at random: the training has diverged; " + gentler_);
    if (!report.source_gain) return;
    const double gain = *report.source_gain;
    const std::size_t count = validations_.size();
    const auto has_done = [&](double share) {
      return static_cast<double>(report.step) >= share * static_cast<double>(steps_);
    };
    if (count >= 5 && gain < 0.1 && has_done(1. / 3))
      warn("source",
           "after " + format_count(report.step) +
               " steps the model does not look at what it translates (with the sources exchanged, a token's loss is " +
               format_decimals(gain, 2) + " higher): such a model writes fluent text that translates nothing; " + gentler_);
    else if (count >= 5 && steps_ > 0 && has_done(0.75) && 8 * gain < 3 * report.loss)
      warn("source", "after " + format_count(report.step) + " of " + format_count(steps_) +
                         " steps the model looks little at what it translates (a token's loss is " +
                         format_decimals(report.loss, 2) + ", and with the sources exchanged only " +
                         format_decimals(gain, 2) + " higher): train for longer, or " + gentler_);
    else if (count >= 5 && gain < 1 && report.loss > 0.99 * validations_[count - 5])
      warn("flat",
           "the validation loss has not fallen in four validations, and the model makes little use of its source: " +
               std::string(gentler_));
  }

 private:
  static constexpr std::size_t kWindow = 10;
  static constexpr const char* gentler_ =
      "begin again with a lower learning rate, a longer warm-up, pre-norm layers or batches in random order";

  void watch_norm(Index step, double norm) {
    if (norms_.size() >= 20) {
      std::vector<double> sorted = norms_;
      std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
      const double usual = sorted[sorted.size() / 2];
      high_ = norm >= 20 * usual ? high_ + 1 : 0;
      if (high_ == 3)
        warn("gradients", "the norm of the gradients is " + format_decimals(norm, 1) + " at step " + format_count(step) +
                              ", where it used to be " + format_decimals(usual, 2) + ": " + gentler_);
      if (high_ > 0) return;  // what is high does not become usual
    }
    norms_.push_back(norm);
    if (norms_.size() > 100) norms_.erase(norms_.begin());
  }

  void warn(const std::string& what, const std::string& text) {
    if (said_.insert(what).second) say_(text);
  }

  std::function<void(const std::string&)> say_;
  Index steps_ = 0;
  std::set<std::string> said_;
  std::vector<double> losses_, norms_, validations_;
  double lowest_ = std::numeric_limits<double>::infinity();
  int high_ = 0;
};

}  // namespace attn
