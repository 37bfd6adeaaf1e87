// refused: static assertion failed.*MultiHead: width must be a multiple of heads
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::MultiHead<Device, 64, 0> layer;
#else
attn::MultiHead<Device, 64, 1> layer;
#endif
