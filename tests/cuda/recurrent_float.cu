#include "attn/cuda.cuh"
#include "cuda/recurrent_on.hpp"

template std::unique_ptr<Training> recurrent_training(attn::Cuda<float>& device, Kind kind, std::uint64_t seed);
