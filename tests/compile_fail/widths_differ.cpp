// refused: static assertion failed.*widths differ
#include "attn/nn/linear.hpp"
#include "device.hpp"

attn::Variable<Device, 4> two_layers(attn::Variable<Device, 8> x) {
#ifdef ATTN_REFUSED
  const attn::Linear<Device, 8, 16> first;
  const attn::Linear<Device, 32, 4> second;
#else
  const attn::Linear<Device, 8, 16> first;
  const attn::Linear<Device, 16, 4> second;
#endif
  return second(first(x));
}
