#pragma once

/// Recurrent models with every attention, and the CPU to run them on.

#include "attn/core/network.hpp"
#include "attn/models/input_feeding.hpp"
#include "attn/models/seq2seq.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it would lose its vectors, and take seconds more
#include "attn/cpu.hpp"
#endif
