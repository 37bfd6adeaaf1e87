#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "attn/ops/lstm.hpp"
#include "support/tensor.hpp"

/// LSTM shapes for the tests of every backend.
struct LstmCase {
  const char* name;
  std::vector<std::int32_t> lengths;
  attn::Index width;
  bool states = false, reverse = false;  // states: initial states are given; reverse: runs from the end
  attn::Index gap = 0;                   // columns of another matrix beside h
};

inline const std::vector<LstmCase>& lstm_cases() {
  static const std::vector<LstmCase> cases = {
      {"no sentences", {}, 3, true},
      {"one token", {1}, 2},
      {"one token with initial states", {1}, 3, true},
      {"one sentence", {4}, 5},
      {"ragged", {3, 1, 5, 2}, 4},
      {"ragged with empty sentences and initial states", {2, 0, 4, 0, 1}, 3, true},
      {"only empty sentences", {0, 0}, 3, true},
      {"from the end", {3, 0, 4}, 5, false, true},
      {"from the end with initial states, into a slice", {1, 3, 2}, 7, true, true, 2},
      {"a step of decoding", {1, 1, 1}, 4, true},
      {"wider than a panel", {2, 3}, 18, true, false, 1},
  };
  return cases;
}

inline std::vector<std::int32_t> by_falling_length(const std::vector<std::int32_t>& lengths) {
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
  });
  return order;
}

struct LstmGradients {
  Numbers dgates, dh0, dc0;
};

/// The LSTM op on random operands. The loss is a weighted sum of all outputs.
template <class Device>
struct LstmOp {
  Device& device;
  LstmCase shape;
  Layout<Device> rows;
  Integers<Device> order;
  attn::Index count, total, width;
  bool keep = true;
  Tensor<Device> input, recurrent, h0, c0, gates, h, c, previous, last_h, last_c, dh, dlast_h, dlast_c;

  LstmOp(Device& on, const LstmCase& a)
      : device(on),
        shape(a),
        rows(on, a.lengths),
        order(on, by_falling_length(a.lengths)),
        count(static_cast<attn::Index>(a.lengths.size())),
        total(rows.rows()),
        width(a.width),
        input(on, total, 4 * width, random_numbers(total * 4 * width, 1)),
        recurrent(on, 4 * width, width, random_numbers(4 * width * width, 2)),
        h0(on, count, width, random_numbers(count * width, 3)),
        c0(on, count, width, random_numbers(count * width, 4)),
        gates(on, total, 4 * width),
        h(on, total, width, kUnset, a.gap),
        c(on, total, width),
        previous(on, total, width),
        last_h(on, count, width, kUnset, a.gap),
        last_c(on, count, width),
        dh(on, total, width, random_numbers(total * width, 5), a.gap),
        dlast_h(on, count, width, random_numbers(count * width, 6)),
        dlast_c(on, count, width, random_numbers(count * width, 7)) {}

  attn::LstmArgs<Device> args() const {
    attn::LstmArgs<Device> all{.gates = gates,
                               .rows = rows,
                               .order = order.data(),
                               .recurrent = recurrent,
                               .reverse = shape.reverse,
                               .keep = keep,
                               .h = h,
                               .c = c,
                               .previous = previous,
                               .last_h = last_h,
                               .last_c = last_c};
    if (shape.states) all.h0 = h0, all.c0 = c0;
    return all;
  }
  void forward() {
    gates.write(input.read());
    lstm(device, args());
    CHECK(h.outside_untouched());
    CHECK(last_h.outside_untouched());
  }
  double loss() {
    forward();
    return dot(h.read(), dh.read()) + dot(last_h.read(), dlast_h.read()) + dot(last_c.read(), dlast_c.read());
  }
  LstmGradients backward(bool add = false, double start = kUnset) {
    const Tensor<Device> dgates(device, total, 4 * width), dh0(device, count, width, start),
        dc0(device, count, width, start);
    attn::LstmGradientArgs<Device> all{
        .forward = args(), .dh = dh, .dlast_h = dlast_h, .dlast_c = dlast_c, .dgates = dgates};
    if (shape.states) all.dh0 = {dh0, add}, all.dc0 = {dc0, add};
    lstm_gradient(device, all);
    return {dgates.read(), dh0.read(), dc0.read()};
  }
  Numbers everything() {
    forward();
    const Numbers forward_results =
        joined({gates.read(), h.read(), c.read(), previous.read(), last_h.read(), last_c.read()});
    const LstmGradients d = backward(true, 0);
    return joined({forward_results, d.dgates, d.dh0, d.dc0});
  }
};
