#pragma once
#include "corpus.hpp"
#include "options.hpp"

// Train the model that the options name, on either device. Each is compiled in a file of its own, so that they compile side by side:
// cpu_*.cpp and, where the program is built with CUDA, cuda_*.cu.

void cpu_transformer(const Options& options, const Corpus& corpus);
void cpu_recurrent(const Options& options, const Corpus& corpus);
void cuda_transformer(const Options& options, const Corpus& corpus);
void cuda_recurrent(const Options& options, const Corpus& corpus);
