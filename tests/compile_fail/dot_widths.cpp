// refused: static assertion failed.*DotProduct and ScaledDot multiply a query and a key element by element
#include "attn/attention/global.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::GlobalAttention<Device, 64, 32, attn::ScaledDot> layer;  // states of 32 columns, asked by one of 64
#else
attn::GlobalAttention<Device, 64, 32, attn::Multiplicative> layer;
#endif
