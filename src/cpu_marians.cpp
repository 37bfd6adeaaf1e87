#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cpu_marians(ModelRegistry& registry) { add_marians<Cpu<float>>(registry); }
