#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/expression.hpp"

namespace attn {

/// Moves the rows of each sentence down by `by` places, or up if `by` is negative: row i is row i - by of x, or 0 if that is
/// outside the sentence. A convolution of width 3 is linear(concat(shift_rows(x, rows, 1), x, shift_rows(x, rows, -1))).
template <Activation X>
auto shift_rows(const X& of, Ragged rows, Index by) {
  using Device = typename X::DeviceType;
  const Variable<Device> x = evaluated(of);
  const std::int32_t* const offsets = rows.offsets_on_host;
  check_rows("shift_rows", x.rows(), rows);
  require(offsets != nullptr, "shift_rows: the text is not known on the host. Pass rows from upload(tape, sentences).");
  Tape<Device>& tape = x.tape();
  auto* const places = tape.device.tape_nodes.template array<std::int32_t>(2 * x.rows());  // of x, then of the result
  Index count = 0;
  for (const Index first : {by < 0 ? -by : 0, by < 0 ? 0 : by})
    for (Index s = 0; s < rows.count; ++s)
      for (Index i = std::abs(by); i < offsets[s + 1] - offsets[s]; ++i)
        places[count++] = static_cast<std::int32_t>(offsets[s] + i - std::abs(by) + first);
  count /= 2;
  const std::int32_t* const from = tape.upload(places, 2 * count);
  const std::int32_t* const to = from + count;
  auto y = tape.result(x.rows(), x.cols(), x);
  tape.device.zero(y.value);
  move_rows(tape.device, {.from = x.value, .from_row = from, .to = {y.value}, .to_row = to, .count = count});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    move_rows(back.device, {.from = dy, .from_row = to, .to = back.zeroed_sink(x), .to_row = from, .count = count});
  });
  return y;
}

}  // namespace attn
