// refused: static assertion failed.*slice: these columns do not exist
#include "attn/tape/columns.hpp"
#include "device.hpp"

auto values(attn::Variable<Device, 64> x) {
#ifdef ATTN_REFUSED
  return attn::slice<48, 20>(x);
#else
  return attn::slice<48, 16>(x);
#endif
}
