#pragma once
#include "attn/models/marian.hpp"
#include "attn/run/model_on.hpp"

namespace attn {

// The library's models: one Transformer per combination of policies, whose shape is given at run time. run/model_presets.hpp
// names the usual shapes.

template <class Device>
void add_transformers(ModelRegistry& registry) {
  registry.add<Transformer<Device>>("transformer");
  registry.add<Transformer<Device, dynamic_shape, Full<>, PreNorm>>("transformer-pre");
}

template <class Device>
void add_linformers(ModelRegistry& registry) {
  registry.add<Transformer<Device, dynamic_shape, Linformer<>>>("linformer");
  registry.add<Transformer<Device, dynamic_shape, Linformer<>, PreNorm>>("linformer-pre");
}

/// Marian's models, as MarianMT and OPUS-MT publish them.
template <class Device>
void add_marians(ModelRegistry& registry) {
  registry.add<Marian<Device, dynamic_shape, Swish>>("marian-swish");
  registry.add<Marian<Device, dynamic_shape, Relu>>("marian-relu");
  registry.add<Marian<Device, dynamic_shape, GeluExact>>("marian-gelu");
}

}  // namespace attn
