#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// Each element 0 with probability `rate`, else larger by 1 / (1 - rate), on a tape that drops; x itself on one that does
/// not. torch.nn.Dropout.
template <class Device, int Width>
Variable<Device, Width> dropout(Tape<Device>& tape, Variable<Device, Width> x, float rate) {
  const Dropout drop = tape.dropout(rate);
  if (!drop.active()) return x;
  auto y = tape.template make<Width>(x.rows());
  dropout(tape.device, {.x = x.value, .y = {y.value}, .dropout = drop});
  tape.on_backward(
      y, [x, drop](Tape<Device>& back, auto dy) { dropout(back.device, {.x = dy, .y = back.sink(x), .dropout = drop}); });
  return y;
}

}  // namespace attn
