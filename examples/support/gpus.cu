#include "attn/cuda/gpus.cuh"

#include "gpus.hpp"

bool built_with_cuda() { return true; }
int gpus() { return attn::cuda_gpus(); }
std::string gpus_found() { return attn::cuda_found(); }
void check_gpu(int gpu) { attn::choose_gpu(gpu); }
