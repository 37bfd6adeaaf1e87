#pragma once

/// Language models, including GPT-2, and the CPU backend.

#include "attn/core/network.hpp"
#include "attn/models/language_model.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it disables vectorisation and adds seconds of compile time
#include "attn/cpu.hpp"
#endif
