#pragma once

/// The Transformer and the Linformer, and the CPU to run them on.

#include "attn/core/network.hpp"
#include "attn/models/transformer.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it would lose its vectors, and take seconds more
#include "attn/cpu.hpp"
#endif
