#pragma once
#include "attn/models/marian.hpp"
#include "attn/run/marian_folder.hpp"
#include "attn/run/model_on.hpp"

namespace attn {

/// A Marian under the name by which open_translator finds it for a folder:
///
///     add_marian<Cpu<float>, TransformerShape{3, 3, 384, 6, 1536}, Swish>(models());
template <class Device, TransformerShape Shape, class Activation>
void add_marian(ModelRegistry& registry) {
  constexpr const char* activation = std::is_same_v<Activation, Swish>       ? "swish"
                                     : std::is_same_v<Activation, Relu>      ? "relu"
                                     : std::is_same_v<Activation, GeluExact> ? "gelu"
                                                                             : nullptr;
  static_assert(activation != nullptr, "attn: add_marian: a Marian's activation is Swish, Relu or GeluExact");
  registry.add<Marian<Device, Shape, Activation>>(
      marian_name({Shape.encoder_layers, Shape.decoder_layers, Shape.width, Shape.heads, Shape.inner, activation}));
}

/// The Marians of attn::compiled: those of the shapes that OPUS-MT's models have.
template <class Device>
void add_marians(ModelRegistry& registry) {
  add_marian<Device, base_shape, Swish>(registry);
  add_marian<Device, base_shape, Relu>(registry);
  add_marian<Device, base_shape, GeluExact>(registry);
  add_marian<Device, big_shape, Swish>(registry);
  add_marian<Device, big_shape, Relu>(registry);
  add_marian<Device, student_shape, Swish>(registry);
  add_marian<Device, student_shape, Relu>(registry);
  add_marian<Device, student_shape, GeluExact>(registry);
}

}  // namespace attn
