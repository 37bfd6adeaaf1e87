// refused: static assertion failed.*split: the width must be a multiple of the number of slices
#include "attn/tape/tape.hpp"
#include "device.hpp"

void thirds(attn::Tape<Device>& tape) {
#ifdef ATTN_REFUSED
  attn::split<3>(tape, tape.make<64>(1));
#else
  attn::split<3>(tape, tape.make<63>(1));
#endif
}
