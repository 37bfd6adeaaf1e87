#include "attn/run/cpu_models.hpp"
#include "attn/run/recurrent_models.hpp"
#include "models.hpp"

void attn::add_cpu_recurrent_models(ModelRegistry& registry) { add_recurrent_models<Cpu<float>>(registry); }
