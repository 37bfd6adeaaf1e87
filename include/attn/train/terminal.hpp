#pragma once
#include <iomanip>
#include <sstream>

#include "attn/train/callback.hpp"
#include "attn/train/progress.hpp"

namespace attn {

/// Shows a training on the terminal: a progress line with loss, tokens/s and time left, and one line per validation.
class TerminalCallback : public Callback {
 public:
  TerminalCallback(std::ostream& out, bool terminal, Index total, Index first_step = 0)
      : progress_(out, terminal, total, first_step) {}

  void on_step(const StepReport& report) override {
    progress_.update(report.step, report.loss, report.tokens, Progress::Clock::now(), report.waiting, report.communicating);
  }
  void on_validation(const ValidationReport& report) override {
    std::ostringstream line;
    line << "step " << format_count(report.step) << ": validation loss " << std::fixed << std::setprecision(3)
         << report.loss << std::setprecision(2);
    if (report.likelihood) line << ", perplexity " << report.perplexity();
    if (report.score) line << ", score " << *report.score;
    line << (report.best ? ", the best so far" : "");
    progress_.print(line.str());
  }
  void on_warning(const std::string& text) override { progress_.print("warning: " + text); }
  void on_end() override { progress_.finish(); }

 private:
  Progress progress_;
};

}  // namespace attn
