#include "common/print_device.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace attn;

TEST_CASE("print device: prints nothing for the CPU alone and rejects missing devices first") {
  std::ostringstream said;
  print_device(said, {.device = "cpu", .threads = 1});
  CHECK(said.str().empty());
  CHECK_THROWS_AS(print_device(said, {.device = "cpu", .precision = "float", .tf32 = true}), Error);
  CHECK_THROWS_WITH_AS(print_device(said, {.device = "tpu"}), "unknown device 'tpu'. Use auto, cpu or cuda", Error);
  if (gpu_support().count == nullptr) CHECK_THROWS_AS(print_device(said, {.device = "cuda"}), Error);
}
