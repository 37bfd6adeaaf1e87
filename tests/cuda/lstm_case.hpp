#pragma once
#include <algorithm>
#include <numeric>

#include "attn/ops/linear.hpp"
#include "attn/ops/lstm.hpp"
#include "cuda/guarded.hpp"

/// A layer as the tape runs it. lengths, in, width; states: initial ones, which have gradients; reverse; gap: beside h and the last
/// states, as in one direction of two; no_dh, no_last: gradients that do not come; add: to what the gradients' places hold. Where every
/// sentence is one row, lstm_cell gives the states, too.
template <class Device>
Results lstm_case(Device& device, const OpCase& test, Precision precision) {
  const auto lengths = test.lengths("lengths");
  const Layout<Device> layout(device, lengths);
  const auto sentences = static_cast<attn::Index>(lengths.size());
  const attn::Index rows = layout.rows(), in = test.size("in"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add"), states = test.flag("states");
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
  });
  const Integers<Device> on_device(device, order);
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  const auto make = [&](attn::Index height, attn::Index cols, std::uint64_t stream, double limit = 1,
                        attn::Index beside = 0) {
    return Activations<Device>(device, height, cols, operand(height * cols, stream, precision, limit), beside);
  };
  const auto empty = [&](attn::Index height, attn::Index cols, attn::Index beside = 0) {
    return Activations<Device>(device, height, cols, {}, beside);
  };
  const auto x = make(rows, in, 1), input = make(4 * width, in, 2, bound), recurrent = make(4 * width, width, 3, bound),
             bias = make(1, 4 * width, 4, bound), h0 = make(sentences, width, 5), c0 = make(sentences, width, 6);
  const auto gates = empty(rows, 4 * width), h = empty(rows, width, gap), c = empty(rows, width),
             previous = empty(rows, width), last_h = empty(sentences, width, gap), last_c = empty(sentences, width, gap);
  linear(device, {.x = x, .weight = input, .bias = bias.data(), .y = gates});
  attn::LstmArgs<Device> forward{.gates = gates,
                                 .rows = layout,
                                 .order = on_device.data(),
                                 .recurrent = recurrent,
                                 .reverse = test.flag("reverse"),
                                 .h = h,
                                 .c = c,
                                 .previous = previous,
                                 .last_h = last_h,
                                 .last_c = last_c};
  if (states) forward.h0 = h0, forward.c0 = c0;
  lstm(device, forward);
  const auto cell_h = empty(rows, width, gap), cell_last_h = empty(rows, width, gap), cell_c = empty(rows, width, gap);
  const bool one_row =
      rows > 0 && std::all_of(lengths.begin(), lengths.end(), [](std::int32_t length) { return length == 1; });
  if (one_row) {
    const auto room = empty(rows, 4 * width), states_room = empty(rows, width), previous_room = empty(rows, width);
    lstm_cell(device, {.x = x,
                       .input = input,
                       .bias = bias.data(),
                       .step = {.gates = room,
                                .rows = layout,
                                .order = on_device.data(),
                                .recurrent = recurrent,
                                .h0 = forward.h0,
                                .c0 = forward.c0,
                                .keep = false,
                                .h = cell_h,
                                .c = states_room,
                                .previous = previous_room,
                                .last_h = cell_last_h,
                                .last_c = cell_c}});
  }

  const auto dh = make(rows, width, 7, 1, gap), dlast_h = make(sentences, width, 8, 1, gap),
             dlast_c = make(sentences, width, 10, 1, gap);
  const auto start = [&](attn::Index height, attn::Index cols, std::uint64_t stream) {
    return add ? make(height, cols, stream) : empty(height, cols);
  };
  const auto dx = start(rows, in, 11), dh0 = start(sentences, width, 12), dc0 = start(sentences, width, 13);
  attn::LstmGradientArgs<Device> backward{.forward = forward, .dgates = gates};
  if (!test.flag("no_dh")) backward.dh = dh;
  if (!test.flag("no_last")) backward.dlast_h = dlast_h, backward.dlast_c = dlast_c;
  if (states) backward.dh0 = {dh0, add}, backward.dc0 = {dc0, add};
  lstm_gradient(device, backward);
  const auto weights = [&](attn::Index height, attn::Index cols, std::uint64_t stream) {
    return Reals<Device>(device, height, cols, operand(height * cols, stream, precision));
  };
  const auto dinput = weights(4 * width, in, 14), drecurrent = weights(4 * width, width, 15),
             dbias = weights(1, 4 * width, 16);
  linear_weight_gradient(device, {.dy = gates, .x = x, .dweight = dinput, .dbias = dbias.data()});
  linear_weight_gradient(device, {.dy = gates, .x = previous, .dweight = drecurrent});
  linear_input_gradient(device, {.dy = gates, .weight = input, .dx = {dx, add}});

  (void)c.read("c");  // what lies around it is untouched
  Results results{{"h", h.read("h")},
                  {"last_h", last_h.read("last_h")},
                  {"last_c", last_c.read("last_c")},
                  {"dx", dx.read("dx")},
                  {.name = "dinput", .numbers = dinput.read("dinput"), .in_float = true},
                  {.name = "drecurrent", .numbers = drecurrent.read("drecurrent"), .in_float = true},
                  {.name = "dbias", .numbers = dbias.read("dbias"), .in_float = true}};
  if (one_row)
    for (const auto& [name, numbers, record] : {std::tuple{"cell_h", cell_h.read("cell_h"), "last_h"},
                                                {"cell_last_h", cell_last_h.read("cell_last_h"), "last_h"},
                                                {"cell_c", cell_c.read("cell_c"), "last_c"}})
      results.push_back({.name = name, .numbers = numbers, .recorded_as = record});
  if (states) {
    results.push_back({"dh0", dh0.read("dh0")});
    results.push_back({"dc0", dc0.read("dc0")});
  }
  return results;
}
