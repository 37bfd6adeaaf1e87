#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/expression.hpp"
#include "attn/tape/gradient_memory.hpp"

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
  const auto move = [count](Tape<Device>& on, auto source, const std::int32_t* row, auto target,
                            const std::int32_t* place) {
    const Scratch<Device, typename Device::Scalar> moved(on, count, source.cols);
    gather_rows(on.device, {.from = source, .row = row, .to = moved.matrix});
    gather_rows_gradient(on.device, {.dto = moved.matrix, .row = place, .dfrom = target});  // 0 in the other rows
  };
  move(tape, x.value, from, Sink<typename Device::Scalar>{y.value, false}, to);
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) { move(back, dy, to, back.sink(x), from); });
  return y;
}

}  // namespace attn
