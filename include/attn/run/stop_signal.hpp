#pragma once
#include <atomic>
#include <csignal>

namespace attn {

/// The signal that asked this program to stop, or 0. Ctrl-C, SIGTERM (Slurm, docker, timeout) and SIGHUP count once
/// watch_stop_signals() was called; a second one ends the program at once. What the program was started to ignore, as nohup does
/// with SIGHUP, stays ignored.
inline std::atomic<int>& stop_signal() {
  static std::atomic<int> signal = 0;
  return signal;
}

inline void watch_stop_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(number, [](int caught) {
      stop_signal() = caught;
      std::signal(caught, SIG_DFL);
    });
    if (before == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

/// What a program that was asked to stop returns: 130 after Ctrl-C, as shells have it, so that `train && next` does not go on.
inline int stop_status() { return 128 + stop_signal(); }

}  // namespace attn
