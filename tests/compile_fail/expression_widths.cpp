// refused: static assertion failed.*widths differ: the activations of an expression have the same width
#include "attn/tape/arithmetic.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
using Other = attn::Variable<Device, 16>;
#else
using Other = attn::Variable<Device, 8>;
#endif

auto gated(attn::Variable<Device, 8> x, Other gate, attn::Variable<Device, 1> column, attn::Variable<Device> dynamic) {
  return x + sigmoid(gate) * column - 2 * dynamic;
}
