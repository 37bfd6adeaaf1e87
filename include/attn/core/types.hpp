#pragma once

#if __cplusplus < 202002L
#error "attn needs C++20: compile with -std=c++20, or link attn::attn in CMake"
#include "attn needs C++20"
#endif

#include "attn/core/standard.hpp"

namespace attn {

using Index = std::int64_t;  // counts and offsets of elements
using Token = std::int32_t;  // an id in a vocabulary

// Devices. The backends specialise them for all T.
template <class T>
class Cpu {
  static_assert(sizeof(T) == 0, "attn: Cpu: include its backend:  #include <attn/cpu.hpp>");
};
template <class T>
class Cuda {
  static_assert(sizeof(T) == 0, "attn: Cuda: include its backend:  #include <attn/cuda.cuh>, and compile with nvcc");
};

}  // namespace attn
