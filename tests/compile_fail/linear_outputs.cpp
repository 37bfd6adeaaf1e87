// refused: static assertion failed.*Linear: these outputs do not exist
#include "attn/nn/linear.hpp"
#include "device.hpp"

attn::Variable<Device, 8> last(attn::Variable<Device, 8> x, const attn::Linear<Device, 8, 16>& layer) {
#ifdef ATTN_REFUSED
  return layer.outputs<12, 8>(x);
#else
  return layer.outputs<8, 8>(x);
#endif
}
