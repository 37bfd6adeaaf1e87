#pragma once
#include <unistd.h>

#include <chrono>
#include <iostream>

#include "attn/train/progress.hpp"

/// How many lines are done, on standard error: a line that redraws itself on a terminal, elsewhere one every half minute.
class Counter {
 public:
  void update(attn::Index done) {
    const double now = seconds();
    if (now - shown_ < (terminal_ ? 0.1 : 30)) return;
    shown_ = now;
    show(done, terminal_ ? "" : "\n");
  }
  void finish(attn::Index done) { show(done, "\n"); }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void show(attn::Index done, const char* end) {
    std::cerr << (terminal_ ? "\r\x1b[K" : "") << attn::format_count(done) << " lines in "
              << attn::format_duration(seconds()) << end << std::flush;
  }

  bool terminal_ = ::isatty(2) != 0;
  Clock::time_point start_ = Clock::now();
  double shown_ = 0;
};
