#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

/// An output stream to a pipe, whose reader can close its end.
class Pipe {
 public:
  Pipe() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    in.open("/dev/fd/" + std::to_string(ends[1]));
    REQUIRE(in.is_open());
    ::close(ends[1]);
    reader_ = ends[0];
  }
  ~Pipe() {
    leave();
    const auto before = std::signal(SIGPIPE, SIG_IGN);  // flushing the rest must not kill the process
    in.close();
    std::signal(SIGPIPE, before);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  /// Reads until it has seen `word`, or until the end.
  void read_until(const std::string& word) {
    char some[4096];
    for (std::string seen; seen.find(word) == std::string::npos;) {
      const ssize_t count = ::read(reader_, some, sizeof some);
      if (count <= 0) return;
      seen.append(some, static_cast<std::size_t>(count));
    }
  }
  /// Closes the reading end.
  void leave() {
    if (reader_ >= 0) ::close(reader_);
    reader_ = -1;
  }

  std::ofstream in;

 private:
  int reader_ = -1;
};
