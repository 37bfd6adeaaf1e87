#pragma once

/// Recurrent models with every attention, and the CPU to run them on.

#include "attn/core/parameters.hpp"
#include "attn/models/recurrent_models.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it would lose its vectors, and take seconds more
#include "attn/cpu.hpp"
#endif
