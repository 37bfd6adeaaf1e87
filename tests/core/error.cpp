#include "attn/core/error.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

TEST_CASE("an error's sentence is its parts one after another") {
  CHECK(error_of([] { attn::fail("matmul: ", 3, " rows do not meet ", 2.5, 'x'); }) == "matmul: 3 rows do not meet 2.5x");
}

TEST_CASE("an error is a runtime error, so that a program can catch both alike") {
  CHECK_THROWS_AS(attn::fail("no"), std::runtime_error);
}

TEST_CASE("require throws exactly when its condition fails") {
  CHECK(error_of([] { attn::require(true, "never"); }) == "");
  CHECK(error_of([] { attn::require(false, "line ", 7); }) == "line 7");
}
