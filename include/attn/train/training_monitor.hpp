#pragma once
#include <set>

#include "attn/train/terminal.hpp"

namespace attn {

/// Warns when a training does not learn, and suggests a remedy; each warning once. It checks
///
///   the loss       mean training loss of 10 reports, 0.5 nats or more above the lowest such mean
///   the gradients  norm 20 times the median of the last 100 reports or more, three reports in a row
///   the source     source_gain below 0.1 nats per token from validation five on, after a third of the steps; or, after
///                  three quarters, below 3/8 of the loss (0.36 at BLEU 1.3, 0.4 with 10,000 pairs, 1.8 for a good model)
///   validation     loss above 20 nats (guessing among 485 million tokens), or no fall of 1 % in four validations while
///                  source_gain is below 1 nat
class TrainingMonitor : public Callback {
 public:
  /// steps: of the whole training; 0 if unknown.
  explicit TrainingMonitor(std::function<void(const std::string&)> print, Index steps = 0)
      : print_(std::move(print)), steps_(steps) {}

  void on_step(const StepReport& report) override {
    if (reports_++ == 0) first_rate_ = report.rate;
    warming_up_ = report.rate > first_rate_ && report.rate >= highest_rate_;
    highest_rate_ = std::max(highest_rate_, report.rate);
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
    if (!report.likelihood) return;  // its limits are in nats per token
    validations_.push_back(report.loss);
    if (report.loss > 20)
      warn("diverged", "the validation loss is " + format_decimals(report.loss, 1) +
                           ", worse than random guessing: the training has diverged; " + gentler_);
    if (!report.source_gain) return;
    const double gain = *report.source_gain, step = static_cast<double>(report.step), steps = static_cast<double>(steps_);
    const std::size_t count = validations_.size();
    if (count >= 5 && gain < 0.1 && step >= 1. / 3 * steps)
      warn("source", "after " + format_count(report.step) +
                         " steps the model ignores its source (with the sources exchanged, the loss per token is " +
                         format_decimals(gain, 2) + " higher): " + remedy());
    else if (count >= 5 && steps > 0 && step >= 0.75 * steps && 8 * gain < 3 * report.loss)
      warn("source", "after " + format_count(report.step) + " of " + format_count(steps_) +
                         " steps the model makes little use of its source (the loss per token is " +
                         format_decimals(report.loss, 2) + ", and with the sources exchanged only " +
                         format_decimals(gain, 2) + " higher): train for longer, or " + remedy());
    else if (count >= 5 && gain < 1 && report.loss > 0.99 * validations_[count - 5])
      warn("flat",
           "the validation loss has not fallen in four validations, and the model makes little use of its source: " +
               remedy());
  }

 private:
  static constexpr std::size_t kWindow = 10;
  static constexpr const char* gentler_ =
      "start again with a lower learning rate, a longer warm-up, pre-norm layers or shuffled batches";

  /// Remedy for a model that learns too little. While the learning rate still rises, a longer warm-up would not help.
  std::string remedy() const {
    return warming_up_ ? "start again with a shorter warm-up, because the learning rate has not reached its peak, or train "
                         "for longer"
                       : gentler_;
  }

  void watch_norm(Index step, double norm) {
    if (norms_.size() >= 20) {
      std::vector<double> sorted = norms_;
      std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
      const double usual = sorted[sorted.size() / 2];
      high_ = norm >= 20 * usual ? high_ + 1 : 0;
      if (high_ == 3)
        warn("gradients", "the norm of the gradients is " + format_decimals(norm, 1) + " at step " + format_count(step) +
                              ", " + format_decimals(usual, 2) + " before: " + gentler_);
      if (high_ > 0) return;  // outliers do not enter the median
    }
    norms_.push_back(norm);
    if (norms_.size() > 100) norms_.erase(norms_.begin());
  }

  void warn(const std::string& what, const std::string& text) {
    if (warned_.insert(what).second) print_(text);
  }

  std::function<void(const std::string&)> print_;
  Index steps_ = 0;
  std::set<std::string> warned_;
  std::vector<double> losses_, norms_, validations_;
  double lowest_ = std::numeric_limits<double>::infinity(), first_rate_ = 0, highest_rate_ = 0;
  Index reports_ = 0;
  bool warming_up_ = false;
  int high_ = 0;
};

}  // namespace attn
