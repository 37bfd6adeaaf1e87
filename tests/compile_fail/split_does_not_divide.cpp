// refused: static assertion failed.*split: the width must be a multiple of the number of slices
#include "attn/tape/columns.hpp"
#include "device.hpp"

void thirds(attn::Tape<Device>& tape) {
#ifdef ATTN_REFUSED
  const attn::Variable<Device, 64> x = tape.make(1, 64);
#else
  const attn::Variable<Device, 63> x = tape.make(1, 63);
#endif
  attn::split<3>(x);
}
