#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cpu_models(ModelRegistry& registry) { add_library_models<Cpu<float>>(registry); }
