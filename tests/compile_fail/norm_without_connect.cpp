// refused: static assertion failed.*a norm policy needs  static Variable connect
#include "attn/nn/residual.hpp"
#include "device.hpp"

struct Norm {
  template <class Device, int Width>
  using Final = attn::Identity<Device, Width>;
#ifndef ATTN_REFUSED
  template <class Device, int Width, class Sublayer>
  static attn::Variable<Device, Width> connect(attn::Variable<Device, Width> x, const attn::LayerNorm<Device, Width>&,
                                               float, const Sublayer& f) {
    return f(x);
  }
#endif
};

attn::Residual<Device, 64, Norm> layer;
