#pragma once
#include <chrono>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

#include "attn/train/callback.hpp"

/// Shows how several runs go, from several threads: on a terminal one line that redraws itself in place, elsewhere a plain
/// line every half minute; above it what the runs have to say.
class ParallelProgress {
 public:
  ParallelProgress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  void expect(attn::Index runs) { runs_ = runs; }

  void begin(const std::string& run, attn::Index step, attn::Index total);
  void update(const std::string& run, const attn::StepReport& report);
  void end(const std::string& run);
  void say(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    attn::Index first = 0, step = 0, total = 0;
    double loss = 0, tokens_per_second = 0;
    Clock::time_point start;
  };

  std::string line() const;

  std::ostream& out_;
  const bool terminal_;
  attn::Index runs_ = 0, done_ = 0;
  std::map<std::string, Running> running_;
  Clock::time_point drawn_ = Clock::now();
  std::string shown_;  // on the terminal now
  std::mutex mutex_;
};

/// One run among them.
class RunProgress : public attn::Callback {
 public:
  RunProgress(ParallelProgress& progress, std::string run, attn::Index step, attn::Index total)
      : progress_(progress), run_(std::move(run)) {
    progress_.begin(run_, step, total);
  }
  ~RunProgress() override { progress_.end(run_); }
  void on_step(const attn::StepReport& report) override { progress_.update(run_, report); }
  void on_validation(const attn::ValidationReport& report) override;

 private:
  ParallelProgress& progress_;
  std::string run_;
};
