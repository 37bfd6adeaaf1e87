#pragma once
#include "attn/ops/embedding.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// Rotary position embedding of queries or keys (ops/embedding.hpp). `first` gives the sentences' first positions: 0 except in
/// decoding. The base is Hugging Face's rope_theta: 10,000 in Llama 2, 500,000 in Llama 3.
template <class Device>
Variable<Device> rotary(Variable<Device> x, Ragged rows, int heads, FirstPositions first = {}, int base = 10000) {
  Tape<Device>& tape = x.tape();
  const Index width = x.cols() / heads;
  require(width * heads == x.cols() && width % 2 == 0, "rotary: ", x.cols(), " columns are not ", heads,
          " heads of an even width");
  check_rows("rotary", x.rows(), rows);
  require(base > 1, "rotary: a base of ", base, " is not above 1");
  const auto table = [width, base, length = first.most + rows.longest](Device& device) {
    const auto fill = [base](Device& on, auto numbers) { sinusoid(on, numbers, SinusoidOrder::halves, base); };
    return device.positions.get(device, width, length, fill, base);
  };
  auto y = tape.result(x.rows(), x.cols(), x);
  RotaryArgs<Device> args{.x = x.value,
                          .rows = rows,
                          .table = table(tape.device),
                          .first_position = first.most,
                          .first_positions = first.each,
                          .y = {y.value}};
  if (rows.rows < x.rows()) tape.device.zero(y.value);
  rotary(tape.device, args);
  tape.on_backward(y, [args, x, table](Tape<Device>& back, auto dy) mutable {
    args.table = table(back.device);  // a longer sentence may have replaced the forward pass's table
    args.x = dy;
    args.y = back.sink(x);
    args.inverse = true;
    if (!args.y.add && args.rows.rows < x.rows()) back.device.zero(args.y.to);
    rotary(back.device, args);
  });
  return y;
}

}  // namespace attn
