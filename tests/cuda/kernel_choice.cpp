#include "attn/cuda/kernel_choice.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using attn::choose_kernels;
using attn::GpuArchitecture;

TEST_CASE("kernel choice: wgmma on Hopper and mma.sync elsewhere with a warning if a rebuild is faster") {
  struct Row {
    GpuArchitecture gpu, code;
    bool wgmma, clusters;
    const char* warning;
  };
  const Row rows[] = {
      {{8, 0}, {8, 0}, false, false, ""},
      {{8, 6}, {8, 0}, false, false, ""},
      {{8, 9}, {8, 9}, false, false, ""},
      {{9, 0}, {9, 0, true}, true, true, ""},
      {{9, 0}, {9, 0}, false, true, "rebuild with -DCMAKE_CUDA_ARCHITECTURES=90a for faster attention"},
      {{9, 0}, {8, 0}, false, false, "rebuild with -DCMAKE_CUDA_ARCHITECTURES=90a for faster attention"},
      {{10, 0}, {10, 0}, false, true, ""},
      {{10, 3}, {10, 0}, false, true, ""},
      {{10, 0}, {9, 0}, false, true, ""},
      {{10, 0}, {8, 0}, false, false, "rebuild with -DCMAKE_CUDA_ARCHITECTURES=100 for faster decoding"},
      {{12, 0}, {12, 0, true}, false, true, ""},
      {{12, 0}, {8, 9}, false, false, "rebuild with -DCMAKE_CUDA_ARCHITECTURES=120 for faster decoding"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.gpu.cmake_value());
    CAPTURE(row.code.cmake_value());
    const attn::KernelChoice choice = choose_kernels(row.gpu, row.code);
    CHECK(choice.wgmma == row.wgmma);
    CHECK(choice.clusters == row.clusters);
    CHECK(choice.warning == row.warning);
  }
}

TEST_CASE("kernel choice: TF32 uses mma.sync on all GPUs, so a build with wgmma would not be faster") {
  const attn::KernelChoice hopper = choose_kernels({9, 0}, {9, 0, true}, true),
                           older = choose_kernels({9, 0}, {8, 0}, true);
  CHECK_FALSE(hopper.wgmma);
  CHECK(hopper.clusters);
  CHECK(hopper.warning.empty());
  CHECK(older.warning.empty());
  CHECK(choose_kernels({10, 0}, {8, 0}, true).warning == "rebuild with -DCMAKE_CUDA_ARCHITECTURES=100 for faster decoding");
}

TEST_CASE("kernel choice: is described in one line") {
  CHECK(describe_kernels("NVIDIA H200", {9, 0}, choose_kernels({9, 0}, {9, 0, true})) ==
        "NVIDIA H200 (compute capability 9.0): wgmma attention kernels");
  CHECK(describe_kernels("NVIDIA H200", {9, 0}, choose_kernels({9, 0}, {8, 0})) ==
        "NVIDIA H200 (compute capability 9.0): mma.sync attention kernels; warning: rebuild with "
        "-DCMAKE_CUDA_ARCHITECTURES=90a for faster attention");
}

TEST_CASE("kernel choice: a GPU below compute capability 8.0 is one clear error") {
  CHECK(error_of([] {
          attn::require_supported(1, "Tesla V100", {7, 0});
        }) ==
        "cannot use GPU 1, Tesla V100: its compute capability is 7.0, and attn needs 8.0 or later. Choose another GPU, or "
        "the device cpu.");
  attn::require_supported(0, "NVIDIA A100", {8, 0});
}
