// refused: static assertion failed.*widths differ
#include "attn/attention/global.hpp"
#include "device.hpp"

// Attention of a decoder's states of 64 columns over an encoder's.
attn::GlobalAttention<Device, 64, 128, attn::Additive<32>> attention;

#ifdef ATTN_REFUSED
constexpr int kEncoder = 64;
#else
constexpr int kEncoder = 128;
#endif

auto remember(attn::Variable<Device, kEncoder> states, attn::Ragged rows) { return attention.remember(states, rows); }
