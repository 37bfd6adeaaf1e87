#ifndef ATTN_CUDA  // defined where the .cu files are compiled
#include "gpus.hpp"
#include "models.hpp"

void cuda_transformer(const Options& options, const Corpus&) { check_gpu(options.gpu); }
void cuda_linformer32(const Options& options, const Corpus&) { check_gpu(options.gpu); }
void cuda_linformer64(const Options& options, const Corpus&) { check_gpu(options.gpu); }
#endif
