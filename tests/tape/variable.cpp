#include "attn/tape/variable.hpp"

#include <doctest/doctest.h>

#include "attn/cpu/device.hpp"

TEST_CASE("a variable knows its rows at run time and its width at compile time") {
  double numbers[6] = {};
  const attn::Variable<attn::Cpu<double>, 3> x{{numbers, 2, 3}};
  CHECK(x.rows() == 2);
  CHECK(decltype(x)::width == 3);
  CHECK(x.slot == nullptr);
}
