#include "attn/run/cpu_models.hpp"

template class attn::ModelOnDevice<attn::Cpu<float>>;
