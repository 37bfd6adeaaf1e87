#ifndef ATTN_CUDA  // defined where the .cu files are compiled
#include "attn/core/error.hpp"
#include "gpus.hpp"

bool built_with_cuda() { return false; }
int gpus() { return 0; }
std::string gpus_found() { return "no CUDA in this program"; }
void check_gpu(int) {
  attn::fail(
      "this program was built without CUDA; use --device cpu, or build it with cmake --preset cuda && "
      "cmake --build build/cuda --target cuda_programs");
}
#endif
