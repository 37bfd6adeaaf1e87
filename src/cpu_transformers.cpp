#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cpu_transformers(ModelRegistry& registry) { add_transformers<Cpu<float>>(registry); }
