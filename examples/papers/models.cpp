#include "papers/models.hpp"

#include <algorithm>

#include "papers/plain_tokenizer.hpp"

namespace papers {

void add_cpu_models(attn::ModelRegistry& registry);
void add_cuda_models(attn::ModelRegistry& registry);

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"seq2seq",
                                              "additive-encoder",
                                              "additive-both",
                                              "additive-self",
                                              "multiplicative-encoder",
                                              "multiplicative-both",
                                              "multiplicative-self",
                                              "scaled-dot-encoder",
                                              "scaled-dot-both",
                                              "scaled-dot-self",
                                              "key-value-encoder",
                                              "key-value-both",
                                              "key-value-self",
                                              "input-feeding",
                                              "input-feeding-deeper",
                                              "input-feeding-lexical"};
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
