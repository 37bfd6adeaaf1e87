// refused: static assertion failed.*Linear: widths must be positive
#include "attn/nn/linear.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::Linear<Device, 8, 0> layer;
#else
attn::Linear<Device, 8, 1> layer;
#endif
