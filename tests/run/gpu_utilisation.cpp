#include "attn/run/gpu_utilisation.hpp"

#include <doctest/doctest.h>

using attn::GpuUtilisation;

TEST_CASE("GPU utilisation: is the share of time with kernels, empty once the GPU does not answer") {
  const GpuUtilisation gpu("0000:81:00.0", ATTN_FAKE_NVML);
  CHECK(gpu() == 0.4);
  CHECK(gpu() == 0.97);
  CHECK(gpu() == std::nullopt);
}

TEST_CASE("GPU utilisation: is empty without NVML, with an incomplete one, and for a GPU that it does not know") {
  CHECK(GpuUtilisation("0000:81:00.0", "libno-such-library.so.1")() == std::nullopt);
  CHECK(GpuUtilisation("0000:81:00.0", "libm.so.6")() == std::nullopt);
  CHECK(GpuUtilisation("0000:81:00.1", ATTN_FAKE_NVML)() == std::nullopt);
  CHECK(GpuUtilisation("0000:81:00.00", ATTN_FAKE_NVML)() == std::nullopt);
}
