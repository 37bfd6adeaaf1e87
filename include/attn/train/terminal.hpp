#pragma once
#include <chrono>
#include <ostream>

#include "attn/core/format_count.hpp"
#include "attn/train/callback.hpp"

namespace attn {

/// Formats seconds as "8 s", "3 min 12 s", "1 h 05 min" or "2 d 03 h"; "?" if not finite, negative or too large.
inline std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e12) return "?";
  const long long all = std::llround(seconds), minutes = all / 60, hours = all / 3600, days = all / 86400;
  if (days > 0) return detail::formatted("%lld d %02lld h", days, hours % 24);
  if (hours > 0) return detail::formatted("%lld h %02lld min", hours, minutes % 60);
  if (minutes > 0) return detail::formatted("%lld min %02lld s", minutes, all % 60);
  return detail::formatted("%lld s", all);
}

/// Formats 3.14159 as "3.14".
inline std::string format_decimals(double value, int decimals) { return detail::formatted("%.*f", decimals, value); }

/// The progress of a run at one moment.
struct ProgressState {
  Index step = 0, total = 0;
  double loss = 0, tokens_per_second = 0, seconds_left = 0;
  double waiting = 0;        // share of time waiting for batches
  double communicating = 0;  // share of time waiting for all-reduce
};

/// A progress line of at most `columns`: percent, a bar that fills the remaining width, and the figures. If space is short,
/// drops the bar first, then cuts the figures from the right. Without `columns`, there is no bar and no cut.
inline std::string progress_line(Index step, Index total, const std::string& text, std::optional<Index> columns) {
  step = std::clamp(step, Index{0}, std::max(total, Index{0})), total = std::max(total, Index{1});
  const std::string percent = std::to_string(step * 100 / total);  // rounded down: 100 only at the end
  const std::string figures = "  " + text;
  std::string line = std::string(3 - percent.size(), ' ') + percent + " %";
  if (!columns) return line + figures;

  const Index room = *columns - static_cast<Index>(line.size() + figures.size()) - 2;
  if (room < 4) return (line + figures).substr(0, static_cast<std::size_t>(std::max(*columns, Index{0})));
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const Index filled = 8 * room * step / total;
  line += "  ";
  for (Index i = 0; i < filled / 8; ++i) line += "█";
  line += eighths[filled % 8];
  line.append(static_cast<std::size_t>(room - (filled + 7) / 8), ' ');
  return line + figures;
}

/// The progress line of a run: "4,200/10,000  loss 2.314  31,200 tok/s  3 min 12 s left", with "waiting 12 %" and "sums over
/// ranks 20 %" from 5 % on.
inline std::string progress_line(const ProgressState& now, std::optional<Index> columns = 80) {
  const std::string loss = detail::formatted(now.loss < 1e6 ? "%.3f" : "%.3g", now.loss);
  const auto share = [](const std::string& of_what, double part) {
    return part >= 0.05 ? "  " + of_what + " " + std::to_string(std::llround(100 * part)) + " %" : "";
  };
  const Index rate = std::isfinite(now.tokens_per_second) ? std::llround(now.tokens_per_second) : 0;
  const std::string figures = format_count(now.step) + "/" + format_count(now.total) + "  loss " + loss + "  " +
                              format_count(rate) + " tok/s  " + format_duration(now.seconds_left) + " left" +
                              share("waiting", now.waiting) + share("sums over ranks", now.communicating);
  return progress_line(now.step, now.total, figures, columns);
}

/// Shows the progress of a run of `total` steps. On a terminal it redraws one line in place; elsewhere (a file, a pipe) it
/// prints a line every 30 seconds.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `step` is the first step, above 0 if the run resumes. Tests pass `now` to control the clock.
  Progress(std::ostream& out, bool terminal, Index total, Index step = 0, Clock::time_point now = Clock::now())
      : out_(out), terminal_(terminal), total_(total), first_step_(step), start_(now), drawn_(now) {}

  /// Reports a step: its number, loss, tokens trained on, and the shares of time spent waiting for batches and for
  /// all-reduce.
  void update(Index step, double loss, Index tokens, Clock::time_point now = Clock::now(), double waiting = 0,
              double communicating = 0) {
    tokens_ += tokens;
    const double since = seconds(now - drawn_);
    const bool due = !shown_ || step >= total_ || since >= (terminal_ ? 0.1 : 30.0);
    if (!due) return;
    if (since > 0) {  // exponential average over about 5 s: readable, yet quick to recover after a pause
      const double rate = static_cast<double>(tokens_) / since, weight = shown_ ? 1 - std::exp(-since / 5) : 1;
      tokens_per_second_ += weight * (rate - tokens_per_second_);
      tokens_ = 0;
    }
    drawn_ = now;
    shown_ = true;
    const double a_step = seconds(now - start_) / static_cast<double>(std::max(step - first_step_, Index{1}));
    const double left = a_step * static_cast<double>(std::max(total_ - step, Index{0}));
    const ProgressState state{step, total_, loss, tokens_per_second_, left, waiting, communicating};
    if (!terminal_) {
      out_ << progress_line(state, std::nullopt) << '\n' << std::flush;
      return;
    }
    line_ = progress_line(state, 79);  // a full line of 80 would wrap on some terminals
    out_ << '\r' << line_ << "\x1b[K" << std::flush;
  }

  /// Prints a line above the progress line, such as a validation result.
  void print(std::string_view text) {
    if (!line_.empty()) out_ << "\r\x1b[K";
    out_ << text << '\n' << line_ << std::flush;
  }

  /// Keeps the last line; later output begins below it.
  void finish() {
    if (!line_.empty()) out_ << '\n' << std::flush;
    line_.clear();
  }

 private:
  static double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

  std::ostream& out_;
  const bool terminal_;
  const Index total_, first_step_;
  const Clock::time_point start_;
  Clock::time_point drawn_;
  bool shown_ = false;
  Index tokens_ = 0;  // since the last draw
  double tokens_per_second_ = 0;
  std::string line_;  // currently on the terminal
};

/// Shows a training on the terminal: a progress line with loss, tokens/s and time left, and one line per validation.
class TerminalCallback : public Callback {
 public:
  TerminalCallback(std::ostream& out, bool terminal, Index total, Index first_step = 0)
      : progress_(out, terminal, total, first_step) {}

  void on_step(const StepReport& report) override {
    progress_.update(report.step, report.loss, report.tokens, Progress::Clock::now(), report.waiting, report.communicating);
  }
  void on_validation(const ValidationReport& report) override {
    progress_.print("step " + format_count(report.step) + ": validation loss " + format_decimals(report.loss, 3) +
                    (report.likelihood ? ", perplexity " + format_decimals(report.perplexity(), 2) : "") +
                    (report.score ? ", score " + format_decimals(*report.score, 2) : "") +
                    (report.best ? ", the best so far" : ""));
  }
  void on_warning(const std::string& text) override { progress_.print("warning: " + text); }
  void on_end() override { progress_.finish(); }

 private:
  Progress progress_;
};

}  // namespace attn
