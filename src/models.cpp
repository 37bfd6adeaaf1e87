#include "models.hpp"

namespace attn {

ModelRegistry& models() {
  static ModelRegistry registry = [] {
    ModelRegistry all;
    add_cpu_transformers(all);
    add_cpu_linformers(all);
    add_cpu_marians(all);
#ifdef ATTN_CUDA
    add_cuda_transformers(all);
    add_cuda_linformers(all);
    add_cuda_marians(all);
#endif
    return all;
  }();
  return registry;
}

GpuSupport gpu_support() {
#ifdef ATTN_CUDA
  return cuda_support();
#else
  return {};
#endif
}

}  // namespace attn
