#ifndef ATTN_CUDA  // defined where the .cu files are compiled
#include "gpus.hpp"
#include "job.hpp"

void cuda_seq2seq(const Job& job) { check_gpu(job.options.gpu); }
void cuda_additive(const Job& job) { check_gpu(job.options.gpu); }
void cuda_multiplicative(const Job& job) { check_gpu(job.options.gpu); }
void cuda_scaled_dot(const Job& job) { check_gpu(job.options.gpu); }
void cuda_key_value(const Job& job) { check_gpu(job.options.gpu); }
void cuda_input_feeding(const Job& job) { check_gpu(job.options.gpu); }
void cuda_lexical(const Job& job) { check_gpu(job.options.gpu); }
void cuda_transformer(const Job& job) { check_gpu(job.options.gpu); }
#endif
