#pragma once
#include "attn/ops/linear.hpp"
#include "attn/ops/ragged_product.hpp"
#include "cuda/guarded.hpp"

/// rows, in, out, gap; relu, no_bias; gate, scale, add: of the input's gradient; with a gate, the sums of its rows too.
template <class Device>
Results linear_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), in = test.size("in"), out = test.size("out"), gap = test.size("gap");
  const bool add = test.flag("add"), has_bias = !test.flag("no_bias");
  const auto make = [&](attn::Index height, attn::Index width, std::uint64_t stream, attn::Index beside = 0) {
    return Activations<Device>(device, height, width, operand(height * width, stream, precision), beside);
  };
  const auto x = make(rows, in, 1, gap), weight = make(out, in, 2), bias = make(1, out, 3), dy = make(rows, out, 4, gap);
  const Activations<Device> y(device, rows, out, {}, gap);
  linear(device, {.x = x, .weight = weight, .bias = has_bias ? bias.data() : nullptr, .y = y, .relu = test.flag("relu")});

  const auto gate = make(rows, in, 5, gap);
  const Activations<Device> dx(device, rows, in, add ? operand(rows * in, 6, precision) : Numbers{}, gap);
  attn::LinearInputGradientArgs<Device> input{
      .dy = dy, .weight = weight, .dx = {dx, add}, .scale = test.number("scale", 1)};
  const Reals<Device> sums(device, 1, in, operand(in, 12, precision));
  if (test.flag("gate")) input.gate = gate, input.sums = sums.data();
  linear_input_gradient(device, input);

  const Reals<Device> dweight(device, out, in, operand(out * in, 7, precision)),
      dbias(device, 1, out, operand(out, 8, precision));
  linear_weight_gradient(device, {.dy = dy, .x = x, .dweight = dweight, .dbias = has_bias ? dbias.data() : nullptr});
  return {{"y", y.read("y")},
          {"dx", dx.read("dx")},
          {.name = "sums",
           .numbers = sums.read("sums"),
           .recorded_as = "dx"},  // of numbers with that error, in random directions
          {.name = "dweight", .numbers = dweight.read("dweight"), .in_float = true},
          {.name = "dbias", .numbers = dbias.read("dbias"), .in_float = true}};
}

/// lengths, k, longest: columns of E; blocks, width, gap, add.
template <class Device>
Results ragged_projection_case(Device& device, const OpCase& test, Precision precision) {
  const auto lengths = test.lengths("lengths");
  const auto sentences = static_cast<attn::Index>(lengths.size());
  const attn::Index k = test.size("k"), width = test.size("width"), gap = test.size("gap"), longest = test.size("longest");
  const int blocks = static_cast<int>(test.size("blocks", 1));
  const bool add = test.flag("add");
  const Layout<Device> rows(device, lengths);
  const auto make = [&](attn::Index height, attn::Index cols, std::uint64_t stream, attn::Index beside) {
    return Activations<Device>(device, height, cols, operand(height * cols, stream, precision), beside);
  };
  const auto x = make(rows.rows(), width, 1, gap), projection = make(blocks * k, longest, 2, 0);
  const auto dy = make(sentences * k, width, 3, gap);
  const Activations<Device> y(device, sentences * k, width, {}, gap);
  ragged_projection(device, {.x = x, .rows = rows, .projection = projection, .blocks = blocks, .y = y});

  const Activations<Device> dx(device, rows.rows(), width, add ? operand(rows.rows() * width, 4, precision) : Numbers{},
                               gap);
  ragged_projection_input_gradient(device,
                                   {.dy = dy, .rows = rows, .projection = projection, .blocks = blocks, .dx = {dx, add}});
  const Reals<Device> dprojection(device, blocks * k, longest, operand(blocks * k * longest, 5, precision));
  ragged_projection_weight_gradient(device, {.dy = dy, .x = x, .rows = rows, .blocks = blocks, .dprojection = dprojection});
  return {{"y", y.read("y")},
          {"dx", dx.read("dx")},
          {.name = "dprojection", .numbers = dprojection.read("dprojection"), .in_float = true}};
}
