#include "common/standard_output.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "support/files.hpp"

using namespace attn;

TEST_CASE("standard output: a failed write names the data") {
  std::ostringstream out;
  out << "a line\n";
  require_written(out, "the lines");
  out.setstate(std::ios::badbit);
  CHECK(error_of([&] { require_written(out, "the lines"); }) ==
        "cannot write the lines to standard output. Is the disk full?");
}
