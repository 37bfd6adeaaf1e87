#pragma once
#include <atomic>
#include <csignal>

namespace attn {

/// The signal that requested a stop, or 0. After watch_stop_signals(), this records SIGINT, SIGTERM (Slurm, Docker,
/// timeout), SIGHUP, SIGUSR1 (Slurm's --signal) and SIGPIPE (closed output). A second signal other than SIGPIPE ends the
/// program at once. Signals ignored at startup, such as SIGHUP under nohup, stay ignored.
inline std::atomic<int>& stop_signal() {
  static std::atomic<int> signal = 0;
  return signal;
}

namespace detail {

inline void handle_stop_signals(void (*handler)(int)) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE})
    if (std::signal(number, handler) == SIG_IGN) std::signal(number, SIG_IGN);
}

}  // namespace detail

inline void watch_stop_signals() {
  detail::handle_stop_signals([](int caught) {
    stop_signal() = caught;
    if (caught != SIGPIPE) std::signal(caught, SIG_DFL);  // more output to a closed pipe must not end the program
  });
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit is then a write error
}

/// Restores immediate termination; call this when there is nothing left to save.
inline void end_at_stop_signals() { detail::handle_stop_signals(SIG_DFL); }

/// Exit status after a stop request: 130 after Ctrl-C, as in shells, so that `train && next` stops.
inline int stop_status() { return 128 + stop_signal(); }

}  // namespace attn
