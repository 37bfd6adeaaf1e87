#include "papers/models.hpp"

#include <algorithm>

#include "papers/plain_tokenizer.hpp"

namespace papers {

void add_cpu_models(attn::ModelRegistry& registry);
void add_cuda_models(attn::ModelRegistry& registry);

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    attn::ModelRegistry own;
    add_cpu_models(own);
    return own.names();
  }();
  return names;
}

bool is_recurrent(const std::string& name) { return std::ranges::find(model_names(), name) != model_names().end(); }

void add_models(ModelRegistry& registry) {
  add_cpu_models(registry);
#ifdef ATTN_CUDA
  add_cuda_models(registry);
#endif
  add_plain_tokenizers();
}

}  // namespace papers
