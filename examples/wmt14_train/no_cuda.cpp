#ifndef ATTN_CUDA  // defined where the .cu files are compiled
#include "gpus.hpp"
#include "models.hpp"

void cuda_transformer(const Options& options, const Corpus&) { check_gpu(options.gpu); }
void cuda_recurrent(const Options& options, const Corpus&) { check_gpu(options.gpu); }
#endif
