#include "attn/run/event_log.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "support/files.hpp"

using namespace attn;

TEST_CASE("event log: events are added to the folder's log, and printed where lines of JSON are asked for") {
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
