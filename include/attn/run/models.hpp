#pragma once
#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"

namespace attn {

// The library's models on the CPU, for programs that do not link attn::compiled: this header compiles all of them.

inline ModelRegistry& models() {
  static ModelRegistry registry = [] {
    ModelRegistry all;
    add_transformers<Cpu<float>>(all);
    add_linformers<Cpu<float>>(all);
    add_marians<Cpu<float>>(all);
    return all;
  }();
  return registry;
}

}  // namespace attn
