// refused: attn: Cpu: include its backend:  #include <attn/cpu.hpp>
#ifndef ATTN_REFUSED
#include "attn/cpu.hpp"
#endif
#include "attn/nn/linear.hpp"

attn::Cpu<float> device;
