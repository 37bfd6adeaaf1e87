#pragma once
#include <string>

#include "attn/run/model_on.hpp"

namespace attn {

// The library's models under their names: ATTENTION-SIZE for post-norm, ATTENTION-SIZE-pre for pre-norm, such as
// transformer-base or linformer32-small-pre.

template <class Device, TransformerShape Shape, class Attention>
void add_both_norms(ModelRegistry& registry, const std::string& name) {
  registry.add<Transformer<Device, Shape, Attention, PostNorm>>(name);
  registry.add<Transformer<Device, Shape, Attention, PreNorm>>(name + "-pre");
}

template <class Device>
void add_transformers(ModelRegistry& registry) {
  add_both_norms<Device, small_shape, Full<>>(registry, "transformer-small");
  add_both_norms<Device, medium_shape, Full<>>(registry, "transformer-medium");
  add_both_norms<Device, base_shape, Full<>>(registry, "transformer-base");
  add_both_norms<Device, big_shape, Full<>>(registry, "transformer-big");
}

template <class Device, int K>
void add_linformers(ModelRegistry& registry) {
  add_both_norms<Device, small_shape, Linformer<K>>(registry, "linformer" + std::to_string(K) + "-small");
  add_both_norms<Device, base_shape, Linformer<K>>(registry, "linformer" + std::to_string(K) + "-base");
}

}  // namespace attn
