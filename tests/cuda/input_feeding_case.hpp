#pragma once
#include <algorithm>
#include <deque>
#include <numeric>

#include "attn/ops/attention.hpp"
#include "attn/ops/linear.hpp"
#include "attn/ops/lstm.hpp"
#include "cuda/guarded.hpp"

/// The op and what the tape does after its gradient. targets, sources: lengths; width; value: columns that are mixed; more: columns
/// that are only averaged; layers; dropout; gap: beside keys, values, states and what is fed; no_dfed: only contexts have a gradient.
template <class Device>
Results input_feeding_case(Device& device, const OpCase& test, Precision precision) {
  using attn::Index;
  const auto lengths = test.lengths("targets"), source_lengths = test.lengths("sources");
  const Layout<Device> target(device, lengths), source(device, source_lengths);
  const Index rows = target.rows(), places = source.rows(), width = test.size("width"), mixed = test.size("value", width),
              value = mixed + test.size("more"), gap = test.size("gap");
  const int layers = static_cast<int>(test.size("layers", 1));
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
  });
  const Integers<Device> on_device(device, order);
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  std::deque<Activations<Device>> kept;
  const auto make = [&](Index height, Index cols, int stream, double limit = 1, Index beside = 0) -> auto& {
    return kept.emplace_back(device, height, cols,
                             operand(height * cols, static_cast<std::uint64_t>(stream), precision, limit), beside);
  };
  const auto empty = [&](Index height, Index cols, Index beside = 0) -> auto& {
    return kept.emplace_back(device, height, cols, Numbers{}, beside);
  };
  const auto &keys = make(places, width, 1, 1, gap), &values = make(places, value, 2, 1, gap),
             &mix = make(width, width + mixed, 3, bound), &seen = empty(rows, width + value, gap),
             &fed = empty(rows, width, gap);
  const Reals<Device> lse(device, 1, rows);
  attn::InputFeedingArgs<Device> forward{.rows = target,
                                         .order = on_device.data(),
                                         .layers = layers,
                                         .layer = {},
                                         .keys = keys,
                                         .values = values,
                                         .source = source,
                                         .scale = 0.5,
                                         .mix = mix,
                                         .dropout = dropout_of(test),
                                         .seen = seen,
                                         .fed = fed,
                                         .lse = lse.data()};
  for (int l = 0; l < layers; ++l)
    forward.layer[l] = attn::InputFeedingLayer<Device>{.input = make(4 * width, width, 20 + l, bound),
                                                       .recurrent = make(4 * width, width, 30 + l, bound),
                                                       .bias = l == 0 ? nullptr : make(1, 4 * width, 40 + l, bound).data(),
                                                       .dropout = l == 0 ? attn::Dropout{} : dropout_of(test),
                                                       .gates = l == 0 ? make(rows, 4 * width, 4) : empty(rows, 4 * width),
                                                       .c = empty(rows, width),
                                                       .below = empty(rows, width),
                                                       .before = empty(rows, width)};
  input_feeding(device, forward);
  const Numbers state = seen.read("seen");
  Results results{{"fed", fed.read("fed")}, {"context", {}}};
  for (Index i = 0; i < rows; ++i)
    results[1].numbers.insert(results[1].numbers.end(), state.begin() + i * (width + value) + width,
                              state.begin() + (i + 1) * (width + value));

  const auto &dcontext = make(rows, value, 6), &dmix = empty(rows, width), &dq = empty(rows, width),
             &dkeys = empty(places, width), &dvalues = empty(places, value);
  attn::InputFeedingGradientArgs<Device> backward{.forward = forward, .dcontext = dcontext, .dmix = dmix};
  if (!test.flag("no_dfed")) backward.dfed = make(rows, width, 5, 1, gap);
  input_feeding_gradient(device, backward);
  const attn::AttentionArgs<Device> looked{.q = forward.seen.columns(0, width),
                                           .k = keys,
                                           .v = values,
                                           .queries = target,
                                           .keys = source,
                                           .scale = forward.scale,
                                           .y = forward.seen.columns(width, value),
                                           .lse = lse.data()};
  attention_gradient(device, {.forward = looked, .dy = dcontext, .dq = {dq}, .dk = {dkeys}, .dv = {dvalues}});
  results.push_back({"dkeys", dkeys.read("dkeys")});
  results.push_back({"dvalues", dvalues.read("dvalues")});
  const auto weight = [&](const std::string& name, auto dy, auto x) {
    const Reals<Device> dweight(device, dy.cols, x.cols, Numbers(static_cast<std::size_t>(dy.cols * x.cols), 0));
    linear_weight_gradient(device, {.dy = dy, .x = x, .dweight = dweight});
    results.push_back({.name = name, .numbers = dweight.read(name.c_str()), .in_float = true});
  };
  weight("dmix", backward.dmix, forward.seen.columns(0, width + mixed));
  for (int l = 0; l < layers; ++l) {
    weight("dinput" + std::to_string(l), forward.layer[l].gates, forward.layer[l].below);
    weight("drecurrent" + std::to_string(l), forward.layer[l].gates, forward.layer[l].before);
  }
  for (const auto& one : kept) (void)one.read("a matrix");  // what lies around it is untouched
  Numbers dgates;
  for (const auto& one : kept)
    if (one.data() == forward.layer[0].gates.data) dgates = one.read("dgates");
  results.push_back({"dgates", dgates});
  return results;
}
