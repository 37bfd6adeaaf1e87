#pragma once
#include <chrono>
#include <ostream>

#include "attn/core/format_count.hpp"
#include "attn/train/terminal.hpp"

namespace attn {

/// Number of completed lines: one redrawn line on a terminal, otherwise a plain line every 30 seconds.
class LineCounter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Tests pass `now` to control the clock.
  LineCounter(std::ostream& out, bool terminal, Clock::time_point now = Clock::now())
      : out_(out), terminal_(terminal), start_(now), shown_(now) {}

  void update(Index done, Clock::time_point now = Clock::now()) {
    if (now - shown_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(30))) return;
    shown_ = now;
    show(done, now, terminal_ ? "" : "\n");
  }
  void finish(Index done, Clock::time_point now = Clock::now()) { show(done, now, "\n"); }

 private:
  void show(Index done, Clock::time_point now, const char* end) {
    out_ << (terminal_ ? "\r\x1b[K" : "") << counted(done, "line") << " in "
         << format_duration(std::chrono::duration<double>(now - start_).count()) << end << std::flush;
  }

  std::ostream& out_;
  const bool terminal_;
  const Clock::time_point start_;
  Clock::time_point shown_;
};

}  // namespace attn
