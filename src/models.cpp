#include "models.hpp"

namespace attn {

ModelRegistry& models() {
  static ModelRegistry registry = [] {
    ModelRegistry all;
    add_cpu_models(all);
#ifdef ATTN_CUDA
    add_cuda_float_models(all);
    add_cuda_bfloat16_models(all);
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
