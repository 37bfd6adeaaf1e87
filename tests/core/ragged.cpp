#include "attn/core/ragged.hpp"

#include <doctest/doctest.h>

using attn::Ragged;

TEST_CASE("ragged: one offset array describes a packed batch") {
  const std::int32_t offsets[] = {0, 3, 3, 4};
  const Ragged rows{offsets, offsets + 1, 3, 4, 3};
  CHECK(rows.length(0) == 3);
  CHECK(rows.length(1) == 0);
  CHECK(rows.length(2) == 1);
}

TEST_CASE("ragged: two arrays describe sentences with gaps") {
  const std::int32_t begin[] = {0, 10}, end[] = {4, 11};
  const Ragged rows{begin, end, 2, 5, 4};
  CHECK(rows.length(0) == 4);
  CHECK(rows.length(1) == 1);
}
