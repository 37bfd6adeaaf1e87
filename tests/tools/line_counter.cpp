#include "common/line_stream.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace attn;
using namespace std::chrono_literals;

TEST_CASE("line counter: a file gets a line every half minute and one at the end") {
  std::ostringstream out;
  const LineCounter::Clock::time_point start{};
  LineCounter counter(out, false, start);
  counter.update(10, start + 29s);
  CHECK(out.str().empty());
  counter.update(1024, start + 31s);
  counter.update(1500, start + 60s);
  counter.finish(2000, start + 61s);
  CHECK(out.str() == "1,024 lines in 31 s\n2,000 lines in 1 min 01 s\n");
}

TEST_CASE("line counter: a terminal gets one line redrawn at most ten times a second") {
  std::ostringstream out;
  const LineCounter::Clock::time_point start{};
  LineCounter counter(out, true, start);
  counter.update(1, start + 99ms);
  counter.update(2, start + 100ms);
  counter.update(3, start + 150ms);
  counter.finish(4, start + 3s);
  CHECK(out.str() == "\r\x1b[K2 lines in 0 s\r\x1b[K4 lines in 3 s\n");
}
