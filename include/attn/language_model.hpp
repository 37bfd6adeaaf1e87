#pragma once

/// Language models, GPT-2 among them, and the CPU to run them on.

#include "attn/core/network.hpp"
#include "attn/models/language_model.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it would lose its vectors, and take seconds more
#include "attn/cpu.hpp"
#endif
