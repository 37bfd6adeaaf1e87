#include "parallel_progress.hpp"

#include "attn/train/progress.hpp"
#include "command_line.hpp"

using namespace attn;

void ParallelProgress::begin(const std::string& run, Index step, Index total) {
  const std::lock_guard lock(mutex_);
  running_[run] = {step, step, total, 0, 0, Clock::now()};
}

void ParallelProgress::update(const std::string& run, const StepReport& report) {
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

void ParallelProgress::end(const std::string& run) {
  const std::lock_guard lock(mutex_);
  running_.erase(run);
  ++done_;
}

void ParallelProgress::say(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!shown_.empty()) out_ << "\r\x1b[K";
  shown_.clear();
  out_ << text << std::endl;
}

/// "2 of 12 runs done, 41,200 tok/s, 3 min 12 s left: baseline 1 34 % loss 2.314, lexical 1 12 % loss 3.100"
std::string ParallelProgress::line() const {
  std::string runs;
  double rate = 0, left = 0;
  for (const auto& [name, run] : running_) {
    const double seconds = std::chrono::duration<double>(Clock::now() - run.start).count();
    const auto to_go = static_cast<double>(run.total - run.step), gone = static_cast<double>(run.step - run.first);
    if (gone > 0) left = std::max(left, seconds * to_go / gone);
    rate += run.tokens_per_second;
    runs += (runs.empty() ? ": " : ", ") + name + " " + std::to_string(100 * run.step / std::max<Index>(run.total, 1)) +
            " % loss " + rounded(run.loss, 3);
  }
  return std::to_string(done_) + " of " + std::to_string(runs_) + " runs done, " + format_count(static_cast<Index>(rate)) +
         " tok/s, at most " + format_duration(left) + " for these" + runs;
}

void RunProgress::on_validation(const ValidationReport& report) {
  progress_.say(run_ + ", step " + format_count(report.step) + ": validation loss " + rounded(report.loss, 3) +
                ", perplexity " + rounded(report.perplexity(), 2) + (report.best ? ", the best so far" : ""));
}
