#include "attn/ops/optimisers.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/update_factors_case.hpp"

TEST_CASE_TEMPLATE("update factors: Adam and SGD steps match the formulas and frozen blocks keep their bits", T, float,
                   double) {
  for (const int threads : {1, 3}) {
    attn::Cpu<T> device(threads);
    check_update_factors(device);
  }
}
