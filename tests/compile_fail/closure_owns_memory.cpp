// refused: static assertion failed.*Tape: a gradient's closure may hold views only
#include <vector>

#include "attn/tape/tape.hpp"
#include "device.hpp"

void scale(attn::Tape<Device>& tape, attn::Variable<Device, 8> y, std::vector<float> factors) {
#ifdef ATTN_REFUSED
  tape.on_backward(y, [factors](attn::Tape<Device>&, auto dy) { dy(0, 0) *= factors[0]; });
#else
  tape.on_backward(y, [first = factors[0]](attn::Tape<Device>&, auto dy) { dy(0, 0) *= first; });
#endif
}
