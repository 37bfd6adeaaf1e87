#include "common/stop_signal.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attn/core/file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("stop signal: the first requests a stop and the second terminates with a failure status") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      watch_stop_signals();
      if (stop_signal() != 0) ::_exit(1);
      ::raise(signal);
      if (stop_signal() != signal || stop_status() != 128 + signal) ::_exit(2);
      ::raise(signal);
      ::_exit(3);  // it is still there
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }
}

TEST_CASE("stop signal: signals ignored by nohup stay ignored") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);
    watch_stop_signals();
    ::raise(SIGHUP);
    ::_exit(stop_signal() == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("stop signal: SIGPIPE always requests a stop and later signals terminate") {
  const auto ended_by = [](const auto& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
  };
  CHECK(ended_by([] {
          watch_stop_signals();
          ::raise(SIGPIPE);
          ::raise(SIGPIPE);
          if (stop_status() != 128 + SIGPIPE) ::_exit(1);
        }) == 0);
  CHECK(ended_by([] {
          watch_stop_signals();
          end_at_stop_signals();
          ::raise(SIGINT);
        }) == SIGINT);
  CHECK(ended_by([] {
          std::signal(SIGHUP, SIG_IGN);  // as nohup does
          watch_stop_signals();
          end_at_stop_signals();
          ::raise(SIGHUP);
        }) == 0);
}

TEST_CASE("stop signal: exceeding the file size limit is an error and not a signal") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    watch_stop_signals();
    const rlimit most{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &most) != 0) ::_exit(1);
    const std::string sentence = error_of([&] { write_file(folder / "large", std::string(5000, 'x')); });
    ::_exit(contains(sentence, "large") ? 0 : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
