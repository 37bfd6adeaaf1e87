#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// x[row[0]], x[row[1]], ...: `count` rows of x, each at most once. `row` is on the device and not checked. The result is on
/// `tape`.
template <class Device>
Variable<Device> gather_rows(Tape<Device>& tape, Variable<Device> x, const std::int32_t* row, Index count) {
  auto y = tape.result(count, x.cols(), x);
  move_rows(tape.device, {.from = x.value, .from_row = row, .to = {y.value}, .count = count});
  tape.on_backward(y, [x, row](Tape<Device>& back, auto dy) {
    move_rows(back.device, {.from = dy, .to = back.zeroed_sink(x), .to_row = row, .count = dy.rows});
  });
  return y;
}
template <class Device>
Variable<Device> gather_rows(Variable<Device> x, const std::int32_t* row, Index count) {
  return gather_rows(x.tape(), x, row, count);
}

/// The same for numbers on the host, which are checked.
template <class Device>
Variable<Device> gather_rows(Variable<Device> x, const std::vector<Index>& rows) {
  const auto count = static_cast<Index>(rows.size());
  std::vector<bool> taken(static_cast<std::size_t>(x.rows()));
  for (const Index row : rows) {
    require(row >= 0 && row < x.rows(), "gather_rows: row ", row, " is out of range: there are ", x.rows(), " rows");
    require(!taken[static_cast<std::size_t>(row)], "gather_rows: row ", row,
            " is selected twice; its gradients would not be added up");
    taken[static_cast<std::size_t>(row)] = true;
  }
  auto* row = x.tape().device.tape_nodes.template array<std::int32_t>(count);
  std::ranges::transform(rows, row, [](Index i) { return static_cast<std::int32_t>(i); });
  return gather_rows(x, x.tape().upload(row, count), count);
}

}  // namespace attn
