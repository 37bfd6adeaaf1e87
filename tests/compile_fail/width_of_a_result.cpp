// refused: static assertion failed.*widths differ
#include "attn/nn/linear.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
using Result = attn::Variable<Device, 32>;
#else
using Result = attn::Variable<Device, 16>;
#endif

Result one_layer(attn::Variable<Device, 8> x, const attn::Linear<Device, 8, 16>& layer) { return layer(x); }
