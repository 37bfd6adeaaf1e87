// refused: static assertion failed.*an attention policy needs  using Score, with a name and a scale
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

struct Half {
  static constexpr const char* name = "half";
#ifndef ATTN_REFUSED
  static float scale(int) { return 0.5f; }
#endif
};

struct Policy : attn::Full<> {
  using Score = Half;
};

attn::MultiHead<Device, 64, 4, Policy> layer;
