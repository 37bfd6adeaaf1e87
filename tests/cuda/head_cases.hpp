#pragma once
#include <algorithm>

#include "attn/ops/embedding.hpp"
#include "attn/ops/move_rows.hpp"
#include "cuda/guarded.hpp"
#include "cuda/reduction_cases.hpp"

// Ops on the heads of queries and keys.

/// lengths, spare, heads, width: of a head; gap, add; first: the position of all sentences' first rows, or firsts: of each.
template <class Device>
Results rotary_case(Device& device, const OpCase& test, Precision precision) {
  const auto lengths = test.lengths("lengths");
  const bool add = test.flag("add"), each = test.settings.contains("firsts");
  const auto firsts = each ? test.lengths("firsts") : std::vector<std::int32_t>{};
  const attn::Index width = test.size("width"), gap = test.size("gap"), spare = test.size("spare");
  const Layout<Device> layout(device, lengths, static_cast<std::int32_t>(spare));
  const Integers<Device> first_positions(device, firsts);
  const attn::Index rows = layout.rows(), cols = test.size("heads") * width,
                    first = each ? *std::max_element(firsts.begin(), firsts.end()) : test.size("first");
  const auto make = [&](const Numbers& numbers) {
    return Activations<Device>(device, rows, cols, numbers, gap, rows_in_sentences(lengths, spare));
  };
  const auto x = make(operand(rows * cols, 1, precision)), dy = make(operand(rows * cols, 2, precision));
  const auto y = make(add ? operand(rows * cols, 4, precision) : Numbers{}),
             dx = make(add ? operand(rows * cols, 5, precision) : Numbers{});
  const attn::Index positions = first + attn::Ragged(layout).longest;
  const Activations<Device> table(device, positions, width, operand(positions * width, 3, precision));
  attn::RotaryArgs<Device> args{.x = x,
                                .rows = layout,
                                .table = table,
                                .first_position = each ? 0 : first,
                                .first_positions = each ? first_positions.data() : nullptr,
                                .y = {y, add}};
  rotary(device, args);
  args.x = dy;
  args.y = attn::Sink<typename Device::Scalar>{dx, add};
  args.inverse = true;
  rotary(device, args);
  return {{"y", y.read("y")}, {"dx", dx.read("dx")}};
}

/// rows, heads, width: of a head; times, gap, add.
template <class Device>
Results repeat_heads_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), times = test.size("times"),
                    gap = test.size("gap"), cols = test.size("heads") * width;
  const bool add = test.flag("add");
  const Activations<Device> x(device, rows, cols, operand(rows * cols, 1, precision), gap),
      dy(device, rows, times * cols, operand(rows * times * cols, 2, precision), gap),
      y(device, rows, times * cols, {}, gap),
      dx(device, rows, cols, add ? operand(rows * cols, 3, precision) : Numbers{}, gap);
  repeat_heads(device, {.x = x, .width = width, .times = times, .y = y});
  repeat_heads_gradient(device, {.dy = dy, .width = width, .times = times, .dx = {dx, add}});
  return {{.name = "y", .numbers = y.read("y"), .exact = true}, {"dx", dx.read("dx")}};
}
