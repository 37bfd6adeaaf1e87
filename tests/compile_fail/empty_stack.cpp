// refused: static assertion failed.*Stack: a stack needs at least one layer
#include "attn/nn/linear.hpp"
#include "attn/nn/stack.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::Stack<attn::Linear<Device, 8, 8>, 0> layers(0);
#else
attn::Stack<attn::Linear<Device, 8, 8>, 1> layers(1);
#endif
