#pragma once

#if __cplusplus < 202002L
#error "attn needs C++20: compile with -std=c++20, or link attn::attn in CMake"
#include "attn needs C++20"  // there is no such file: the compiler ends here, without the errors that would follow
#endif

#include <cstdint>

namespace attn {

using Index = std::int64_t;  // counts and offsets of elements
using Token = std::int32_t;  // an id of a vocabulary

// Devices. If the compiler says that one of them is incomplete, include its backend:
template <class T>
class Cpu;  // <attn/cpu.hpp>
template <class T>
class Cuda;  // <attn/cuda.cuh>

}  // namespace attn
