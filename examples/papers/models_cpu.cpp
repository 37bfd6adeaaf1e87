#include "attn/run/cpu_models.hpp"
#include "papers/models_on.hpp"

void papers::add_cpu_models(ModelRegistry& registry) { add_models_on<Cpu<float>>(registry); }
