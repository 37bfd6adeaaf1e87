#ifndef ATTN_CUDA  // defined where the .cu files are compiled
#include "engines.hpp"
#include "gpus.hpp"

static std::unique_ptr<Engine> refuse(const Place& place) {
  check_gpu(place.gpu);
  return nullptr;
}

std::unique_ptr<Engine> cuda_transformer(const ModelFolder&, const Place& place) { return refuse(place); }
std::unique_ptr<Engine> cuda_recurrent(const ModelFolder&, const Place& place) { return refuse(place); }
#endif
