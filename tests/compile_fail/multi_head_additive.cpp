// refused: static assertion failed.*a score of multi-head attention needs  static double scale.int width
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

struct Policy : attn::Full<> {
#ifdef ATTN_REFUSED
  using Score = attn::Additive<32>;  // no multiple of a product: only global attention can
#else
  using Score = attn::DotProduct;
#endif
};

attn::MultiHead<Device, 64, 4, Policy> layer;
