// refused: static assertion failed.*a score of multi-head attention needs  static double scale.int width
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

struct Half {
#ifndef ATTN_REFUSED
  static float scale(int) { return 0.5f; }
#endif
};

struct Policy : attn::Full<> {
  using Score = Half;
};

attn::MultiHead<Device, 64, 4, Policy> layer;
