#include "attn/cpu.hpp"

#include "cuda/backend_on.hpp"

std::unique_ptr<Backend> make_cpu_double() { return std::make_unique<BackendOn<attn::Cpu<double>>>(); }
std::unique_ptr<Backend> make_cpu_float() { return std::make_unique<BackendOn<attn::Cpu<float>>>(); }
std::unique_ptr<Backend> make_cpu_bfloat16() {
  return std::make_unique<BackendOn<attn::Cpu<float>>>(attn::CpuOptions{.bfloat16_products = true});
}
