#ifndef ATTN_CUDA  // defined where the .cu files are compiled
#include "gpus.hpp"
#include "job.hpp"

void cuda_transformer(const Job& job) { check_gpu(job.options.gpu); }
void cuda_recurrent(const Job& job) { check_gpu(job.options.gpu); }
#endif
