#pragma once

/// Recurrent models with every kind of attention, and the CPU backend.

#include "attn/core/network.hpp"
#include "attn/models/input_feeding.hpp"
#include "attn/models/seq2seq.hpp"
#ifndef __CUDACC__  // nvcc must not see Eigen: it disables vectorisation and adds seconds of compile time
#include "attn/cpu.hpp"
#endif
