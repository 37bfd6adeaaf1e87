#pragma once

/// The Transformer and the Linformer, and the CPU backend.

#include "attn/core/network.hpp"
#include "attn/models/transformer.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it disables vectorisation and adds seconds of compile time
#include "attn/cpu.hpp"
#endif
