#include "attn/cpu.hpp"

#include "cuda/recurrent_on.hpp"

template std::unique_ptr<Training> recurrent_training(attn::Cpu<double>& device, Kind kind, std::uint64_t seed);
template std::unique_ptr<Training> recurrent_training(attn::Cpu<float>& device, Kind kind, std::uint64_t seed);
