#pragma once
#include <atomic>
#include <csignal>

namespace attn {

/// The signal that asked this program to stop, or 0. Ctrl-C, SIGTERM (Slurm, docker, timeout), SIGHUP and SIGPIPE, which says that
/// nobody reads the output any more, count once watch_stop_signals() was called; a second one of the first three ends the program
/// at once. What the program was started to ignore, as nohup does with SIGHUP, stays ignored.
inline std::atomic<int>& stop_signal() {
  static std::atomic<int> signal = 0;
  return signal;
}

namespace detail {

inline void handle_stop_signals(void (*handler)(int)) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    if (std::signal(number, handler) == SIG_IGN) std::signal(number, SIG_IGN);
}

}  // namespace detail

inline void watch_stop_signals() {
  detail::handle_stop_signals([](int caught) {
    stop_signal() = caught;
    if (caught != SIGPIPE) std::signal(caught, SIG_DFL);  // what is said until the end comes does not end it
  });
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of who writes it
}

/// From now on they end the program at once: there is nothing left to save.
inline void end_at_stop_signals() { detail::handle_stop_signals(SIG_DFL); }

/// What a program that was asked to stop returns: 130 after Ctrl-C, as shells have it, so that `train && next` does not go on.
inline int stop_status() { return 128 + stop_signal(); }

}  // namespace attn
