#include "attn/core/error.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

TEST_CASE("error: the message concatenates all parts") {
  CHECK(error_of([] { attn::fail("matmul: ", 3, " rows do not meet ", 2.5, 'x'); }) == "matmul: 3 rows do not meet 2.5x");
}

TEST_CASE("error: Error derives from std::runtime_error") { CHECK_THROWS_AS(attn::fail("no"), std::runtime_error); }

TEST_CASE("error: require throws only if its condition fails") {
  CHECK(error_of([] { attn::require(true, "never"); }) == "");
  CHECK(error_of([] { attn::require(false, "line ", 7); }) == "line 7");
}
