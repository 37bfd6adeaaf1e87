// refused: static assertion failed.*widths differ
#include "lstm_device.hpp"

#ifdef ATTN_REFUSED
using Decoder = attn::Lstm<Device, 32, 16>;  // reads 32 columns
#else
using Decoder = attn::Lstm<Device, 24, 16>;
#endif

attn::Variable<Device, 16> read(attn::Variable<Device, 8> x, const attn::TimeMajor& layout) {
  const attn::BidirectionalLstm<Device, 8, 24> encoder;
  const Decoder decoder;
  return decoder(encoder(x, layout).h, layout).h;
}
