#include "attn/core/format_count.hpp"

#include <doctest/doctest.h>

using namespace attn;

TEST_CASE("format count: separates thousands") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(1'234'567) == "1,234,567");
  CHECK(format_count(-100) == "-100");
  CHECK(format_count(-123'456) == "-123,456");
}

TEST_CASE("format count: adds a plural s unless the count is 1") {
  CHECK(counted(0, "pair") == "0 pairs");
  CHECK(counted(1, "pair") == "1 pair");
  CHECK(counted(std::size_t{1}, "training pair") == "1 training pair");
  CHECK(counted(2U, "core") == "2 cores");
  CHECK(counted(1234, "pair") == "1,234 pairs");
}
