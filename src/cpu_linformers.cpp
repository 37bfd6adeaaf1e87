#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"
#include "models.hpp"

void attn::add_cpu_linformers(ModelRegistry& registry) { add_linformers<Cpu<float>>(registry); }
