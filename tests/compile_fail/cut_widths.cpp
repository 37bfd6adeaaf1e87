// refused: static assertion failed.*cut: the slices' widths must add up to the whole's
#include "attn/tape/columns.hpp"
#include "device.hpp"

auto keys_and_values(attn::Tape<Device>& tape, attn::Variable<Device, 64> x) {
#ifdef ATTN_REFUSED
  return attn::cut<48, 12>(tape, x);
#else
  return attn::cut<48, 16>(tape, x);
#endif
}
