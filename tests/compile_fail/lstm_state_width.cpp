// refused: static assertion failed.*widths differ
#include "lstm_device.hpp"

#ifdef ATTN_REFUSED
using Encoder = attn::BidirectionalLstm<Device, 8, 32>;  // its last states have 32 columns
#else
using Encoder = attn::BidirectionalLstm<Device, 8, 16>;
#endif

attn::Variable<Device, 16> start(attn::Variable<Device, 8> x, const attn::TimeMajor& layout) {
  const auto last = Encoder{}(x, layout).last;
  const attn::Lstm<Device, 8, 16> decoder;
  return decoder(x, layout, {last.h, last.c}).h;
}
