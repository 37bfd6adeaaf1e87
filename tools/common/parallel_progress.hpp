#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <ostream>

#include "attn/core/format_count.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/terminal.hpp"

namespace attn {

/// Thread-safe progress of several runs: one redrawn line on a terminal, otherwise a plain line every 30 seconds. Messages
/// of the runs appear above it.
class ParallelProgress {
 public:
  ParallelProgress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  void expect(Index runs) { runs_ = runs; }

  void begin(const std::string& run, Index step, Index total) {
    const std::lock_guard lock(mutex_);
    running_[run] = {step, step, total, 0, 0, Clock::now()};
  }
  void update(const std::string& run, const StepReport& report) {
    const std::lock_guard lock(mutex_);
    Running& one = running_[run];
    one.step = report.step;
    one.loss = report.loss;
    one.tokens_per_second += (one.tokens_per_second == 0 ? 1 : 0.1) * (report.tokens_per_second - one.tokens_per_second);
    const auto now = Clock::now();
    if (now - drawn_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(30))) return;
    drawn_ = now;
    if (!terminal_) {
      out_ << line() << std::endl;
      return;
    }
    shown_ = line().substr(0, 119);
    out_ << '\r' << shown_ << "\x1b[K" << std::flush;
  }
  void end(const std::string& run) {
    const std::lock_guard lock(mutex_);
    running_.erase(run);
    ++done_;
  }
  void print(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (!shown_.empty()) out_ << "\r\x1b[K";
    shown_.clear();
    out_ << text << std::endl;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    Index first = 0, step = 0, total = 0;
    double loss = 0, tokens_per_second = 0;
    Clock::time_point start;
  };

  /// "2 of 12 runs done, 41,200 tok/s, 3 min 12 s left: baseline 1 34 % loss 2.314, lexical 1 12 % loss 3.100"
  std::string line() const {
    std::string runs;
    double rate = 0, left = 0;
    for (const auto& [name, run] : running_) {
      const double seconds = std::chrono::duration<double>(Clock::now() - run.start).count();
      const auto to_go = static_cast<double>(run.total - run.step), gone = static_cast<double>(run.step - run.first);
      if (gone > 0) left = std::max(left, seconds * to_go / gone);
      rate += run.tokens_per_second;
      runs += (runs.empty() ? ": " : ", ") + name + " " + std::to_string(100 * run.step / std::max<Index>(run.total, 1)) +
              " % loss " + format_decimals(run.loss, 3);
    }
    return std::to_string(done_) + " of " + counted(runs_, "run") + " done, " + format_count(static_cast<Index>(rate)) +
           " tok/s, at most " + format_duration(left) + " for these" + runs;
  }

  std::ostream& out_;
  const bool terminal_;
  Index runs_ = 0, done_ = 0;
  std::map<std::string, Running> running_;
  Clock::time_point drawn_ = Clock::now();
  std::string shown_;  // text now on the terminal
  std::mutex mutex_;
};

/// Progress of one run.
class RunProgress : public Callback {
 public:
  RunProgress(ParallelProgress& progress, std::string run, Index step, Index total)
      : progress_(progress), run_(std::move(run)) {
    progress_.begin(run_, step, total);
  }
  ~RunProgress() override { progress_.end(run_); }
  void on_step(const StepReport& report) override { progress_.update(run_, report); }
  void on_validation(const ValidationReport& report) override {
    progress_.print(run_ + ", step " + format_count(report.step) + ": validation loss " + format_decimals(report.loss, 3) +
                    (report.likelihood ? ", perplexity " + format_decimals(report.perplexity(), 2) : "") +
                    (report.best ? ", the best so far" : ""));
  }

 private:
  ParallelProgress& progress_;
  std::string run_;
};

}  // namespace attn
