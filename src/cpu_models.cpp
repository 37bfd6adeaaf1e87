#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"
#include "attn/run/recurrent_models.hpp"
#include "expressions.hpp"
#include "models.hpp"

namespace attn {
ATTN_EXPRESSIONS(extern template, Cpu<float>)
}  // namespace attn

template class attn::ModelOnDevice<attn::Cpu<float>>;

void attn::add_cpu_models(ModelRegistry& registry) {
  add_library_models<Cpu<float>>(registry);
  add_recurrent_models<Cpu<float>>(registry);
}
