// refused: static assertion failed.*a norm policy needs  template <class Device, int Width> using Final
#include "attn/nn/residual.hpp"
#include "device.hpp"

struct Norm {
#ifndef ATTN_REFUSED
  template <class Device, int Width>
  using Final = attn::Identity<Device, Width>;
#endif
  template <class Device, int Width, class Sublayer>
  static attn::Variable<Device, Width> connect(attn::Variable<Device, Width> x, const attn::LayerNorm<Device, Width>&,
                                               float, const Sublayer& f) {
    return f(x);
  }
};

attn::Residual<Device, 64, Norm> layer;
