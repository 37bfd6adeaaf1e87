#pragma once
// The device these programs run on: a GPU if nvcc compiles them (nvcc -x cu), otherwise the CPU.
#ifdef __CUDACC__
#include "attn/cuda.cuh"
using Device = attn::Cuda<attn::bfloat16>;
#else
#include "attn/cpu.hpp"
using Device = attn::Cpu<float>;
#endif
