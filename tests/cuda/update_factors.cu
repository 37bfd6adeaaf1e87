#include <doctest/doctest.h>

#include "attn/cuda.cuh"
#include "cuda/devices.hpp"
#include "support/update_factors_case.hpp"

TEST_CASE("update factors: Adam and SGD steps match the formulas and frozen blocks keep their bits") {
  if (!is_here<CudaBfloat16>()) return;
  attn::Cuda<float> in_float;
  check_update_factors(in_float);
  attn::Cuda<attn::bfloat16> in_bfloat16;
  check_update_factors(in_bfloat16);
}
