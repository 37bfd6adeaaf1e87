#pragma once
#include "corpus.hpp"
#include "options.hpp"

// One function for each model and device, each compiled in a file of its own, so that they compile side by side: cpu_*.cpp and,
// where the program is built with CUDA, cuda_*.cu. Each trains the model in the size that the options name.

void cpu_transformer(const Options& options, const Corpus& corpus);
void cpu_linformer32(const Options& options, const Corpus& corpus);
void cpu_linformer64(const Options& options, const Corpus& corpus);
void cuda_transformer(const Options& options, const Corpus& corpus);
void cuda_linformer32(const Options& options, const Corpus& corpus);
void cuda_linformer64(const Options& options, const Corpus& corpus);
