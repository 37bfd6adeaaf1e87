#include "common/event_log.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "support/files.hpp"
#include "support/pipe.hpp"

using namespace attn;

TEST_CASE("event log: appends events to the folder's log and prints them as JSON on request") {
  const TemporaryFolder folder;
  EventLog log{folder.path()};
  log.add({{"event", "first"}});
  log.print("nowhere");
  std::ostringstream json;
  log.json = &json;
  log.add({{"event", "second"}});
  log.print("a line");
  CHECK(read_file(folder / "log.jsonl") == "{\"event\":\"first\"}\n{\"event\":\"second\"}\n");
  CHECK(json.str() == "{\"event\":\"second\"}\na line\n");
  json.setstate(std::ios::badbit);
  CHECK(contains(error_of([&] { log.print("lost"); }), "cannot write the lines of the log to standard output"));
}

TEST_CASE("event log: a closed pipe is ignored but a full disk is an error") {
  const TemporaryFolder folder;
  EventLog log{folder.path()};
  std::ofstream full("/dev/full");
  log.json = &full;
  CHECK(contains(error_of([&] { log.print("lost"); }), "cannot write the lines of the log to standard output"));

  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.leave();
  log.json = &pipe.in;
  log.print("unread");
  EventLog(log).add({{"event", "later"}});  // of another log on the stream too
  CHECK(read_file(folder / "log.jsonl") == "{\"event\":\"later\"}\n");
  CHECK(
      contains(error_of([&] { require_written(*log.json, "the lines"); }), "cannot write the lines"));  // who asks is told
  std::signal(SIGPIPE, before);
}
