// refused: static assertion failed: attn: no backend: include <attn/cpu.hpp> or <attn/cuda.cuh>
#ifdef ATTN_REFUSED
#include "attn/cpu/device.hpp"  // the device, but none of its ops
#else
#include "attn/cpu.hpp"
#endif
#include "attn/nn/linear.hpp"

using Host = attn::Cpu<float>;

attn::Variable<Host, 4> run(const attn::Linear<Host, 4, 4>& layer, attn::Variable<Host, 4> x) { return layer(x); }
