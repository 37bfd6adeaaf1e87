#pragma once
#include "attn/models/marian.hpp"
#include "attn/run/model_on.hpp"

namespace attn {

// The library's models: one Transformer per combination of policies, with the shape given at run time.
// run/model_spec.hpp names common shapes.

template <class Device>
void add_library_models(ModelRegistry& registry) {
  registry.add<Transformer<Device>>("transformer");
  registry.add<Transformer<Device, dynamic_shape, Full<>, PreNorm>>("transformer-pre");
  registry.add<Transformer<Device, dynamic_shape, Linformer<>>>("linformer");
  registry.add<Transformer<Device, dynamic_shape, Linformer<>, PreNorm>>("linformer-pre");
  // Marian models, as published by OPUS-MT
  registry.add<Marian<Device, dynamic_shape, Swish>>("marian-swish");
  registry.add<Marian<Device, dynamic_shape, Relu>>("marian-relu");
  registry.add<Marian<Device, dynamic_shape, GeluExact>>("marian-gelu");
}

}  // namespace attn
