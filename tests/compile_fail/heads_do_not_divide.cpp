// refused: static assertion failed.*MultiHead: width must be a multiple of heads
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::MultiHead<Device, 64, 7> layer;
#else
attn::MultiHead<Device, 64, 8> layer;
#endif
