#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "attn/train/progress.hpp"

/// How many lines are done, on standard error: a line that redraws itself on a terminal, elsewhere one every half minute.
class Counter {
 public:
  explicit Counter(attn::Index total) : total_(total) {}

  void update(attn::Index done) {
    using namespace attn;
    const double now = std::chrono::duration<double>(Clock::now() - start_).count();
    if (done < total_ && now - shown_ < (terminal_ ? 0.1 : 30)) return;
    shown_ = now;
    std::cerr << (terminal_ ? "\r\x1b[K" : "") << format_count(done) << "/" << format_count(total_) << " lines  "
              << format_duration(now * static_cast<double>(total_ - done) / static_cast<double>(std::max<Index>(done, 1)))
              << " left" << (terminal_ && done < total_ ? "" : "\n") << std::flush;
  }

 private:
  using Clock = std::chrono::steady_clock;
  attn::Index total_;
  bool terminal_ = ::isatty(2) != 0;
  Clock::time_point start_ = Clock::now();
  double shown_ = 0;
};
