#pragma once
#include "attn/ops/gather_rows.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// x[row[0]], x[row[1]], ...: `count` different rows of x. `row` lies on the device. The result is on `tape`.
template <class Device>
Variable<Device> gather_rows(Tape<Device>& tape, Variable<Device> x, const std::int32_t* row, Index count) {
  auto y = tape.result(count, x.cols(), x);
  gather_rows(tape.device, {.from = x.value, .row = row, .to = y.value});
  tape.on_backward(y, [x, row](Tape<Device>& back, auto dy) {
    gather_rows_gradient(back.device, {.dto = dy, .row = row, .dfrom = back.sink(x)});
  });
  return y;
}
template <class Device>
Variable<Device> gather_rows(Variable<Device> x, const std::int32_t* row, Index count) {
  return gather_rows(x.tape(), x, row, count);
}

}  // namespace attn
