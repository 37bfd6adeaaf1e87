#pragma once
#include "attn/ops/decoding.hpp"
#include "attn/ops/expression.hpp"
#include "attn/ops/layer_norm.hpp"
#include "attn/ops/move_rows.hpp"
#include "cuda/guarded.hpp"

// Ops that treat each row alone. All: rows, width, gap.

/// branch, dropout, add; rms: without centring, and so without a bias.
template <class Device>
Results layer_norm_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add"), has_branch = test.flag("branch"), rms = test.flag("rms");
  const auto make = [&](attn::Index height, std::uint64_t stream, double bound = 1) {
    return Activations<Device>(device, height, width, operand(height * width, stream, precision, bound),
                               height == rows ? gap : 0);
  };
  const auto start = [&](std::uint64_t stream) { return add ? operand(rows * width, stream, precision) : Numbers{}; };
  const auto x = make(rows, 1, 2), branch = make(rows, 2), dy = make(rows, 5);
  const Activations<Device> gain(device, 1, width, operand(width, 3, precision)),
      bias(device, 1, width, operand(width, 4, precision));
  const Activations<Device> y(device, rows, width, {}, gap), z(device, rows, width, {}, gap);
  const Reals<Device> mean(device, 1, rows), inverse(device, 1, rows);
  attn::LayerNormArgs<Device> forward{.x = x,
                                      .dropout = dropout_of(test),
                                      .gain = gain.data(),
                                      .bias = rms ? nullptr : bias.data(),
                                      .z = z,
                                      .y = y,
                                      .mean = mean.data(),
                                      .inverse_deviation = inverse.data(),
                                      .center = !rms};
  if (has_branch) forward.branch = branch;
  layer_norm(device, forward);
  const Activations<Device> alone(device, rows, width, {}, gap);  // y where there is no place for z
  forward.y = alone;
  forward.z = {};
  layer_norm(device, forward);

  const Activations<Device> dx(device, rows, width, start(6), gap), dbranch(device, rows, width, start(7), gap);
  const Reals<Device> dgain(device, 1, width, operand(width, 8, precision)),
      dbias(device, 1, width, operand(width, 10, precision));
  attn::LayerNormGradientArgs<Device> backward{.z = has_branch ? z : x,
                                               .dy = dy,
                                               .gain = gain.data(),
                                               .mean = mean.data(),
                                               .inverse_deviation = inverse.data(),
                                               .dropout = dropout_of(test),
                                               .dx = {dx, add},
                                               .dgain = dgain.data(),
                                               .dbias = rms ? nullptr : dbias.data(),
                                               .center = !rms};
  if (has_branch) backward.dbranch = {dbranch, add};
  layer_norm_gradient(device, backward);

  Results results{
      {"y", y.read("y")},
      // As exact as the numbers it is the mean of; a root and a quotient of float hardware, good to two units each.
      {.name = "mean", .numbers = mean.read("mean"), .in_float = true, .floor = 0x1p-23},
      {.name = "inverse_deviation", .numbers = inverse.read("inverse_deviation"), .in_float = true, .floor = 0x1p-22},
      {"dx", dx.read("dx")},
      {.name = "dgain", .numbers = dgain.read("dgain"), .in_float = true},
      {.name = "dbias", .numbers = dbias.read("dbias"), .in_float = true}};
  const Numbers sums = z.read("z"), branches = dbranch.read("dbranch");
  if (has_branch) {
    results.push_back({"z", sums});
    results.push_back({"dbranch", branches});
  } else {
    for (const double number : sums) attn::require(std::isnan(number), "layer_norm wrote z, though there is no branch");
  }
  return results;
}

/// dropout.
template <class Device>
Results residual_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const Activations<Device> x(device, rows, width, operand(rows * width, 1, precision), gap),
      branch(device, rows, width, operand(rows * width, 2, precision), gap), z(device, rows, width, {}, gap);
  using Leaf = attn::DenseLeaf<typename Device::Scalar>;
  using Dropped = attn::Apply<attn::functions::Multiply, Leaf, attn::DropoutLeaf>;
  using Sum = attn::Apply<attn::functions::Add, Leaf, Dropped>;
  const Sum sum{{Leaf{x, {}}, Dropped{{Leaf{branch, {}}, attn::DropoutLeaf{dropout_of(test)}}}}};
  evaluate_expression(device, attn::ExpressionArgs<Device, Sum>{sum, z});
  return {{"z", z.read("z")}};
}

/// dropout, add; in_place: the result's place is the operand's.
template <class Device>
Results dropout_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add");
  const Activations<Device> x(device, rows, width, operand(rows * width, 1, precision), gap),
      other(device, rows, width, add ? operand(rows * width, 2, precision) : Numbers{}, gap);
  const Activations<Device>& y = test.flag("in_place") ? x : other;
  dropout(device, {.x = x, .y = {y, add}, .dropout = dropout_of(test)});
  return {{"y", y.read("y")}};
}

/// Row numbers 0, 7, 14, ... of so many: all different, as no number of places in the list is a multiple of 7.
inline std::vector<std::int32_t> scattered(attn::Index rows, attn::Index places) {
  std::vector<std::int32_t> row;
  for (attn::Index i = 0; i < rows; ++i) row.push_back(static_cast<std::int32_t>(i * 7 % places));
  return row;
}

/// places: rows of where they go.
template <class Device>
Results scatter_rows_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap"),
                    places = test.size("places");
  const std::vector<std::int32_t> row = scattered(rows, places);
  std::vector<bool> in_use(static_cast<std::size_t>(places), false);
  for (const std::int32_t place : row) in_use[static_cast<std::size_t>(place)] = true;
  const Integers<Device> on_device(device, row);
  const Activations<Device> from(device, rows, width, operand(rows * width, 1, precision), gap),
      to(device, places, width, {}, gap, in_use);
  move_rows(device, {.from = from, .to = {to}, .to_row = on_device.data(), .count = rows});
  return {{.name = "to", .numbers = to.read("to"), .exact = true}};
}

/// places: rows of the matrix, the first of which go to some of the others.
template <class Device>
Results copy_rows_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap"),
                    places = test.size("places"), half = places / 2;
  std::vector<std::int32_t> from, to;
  for (attn::Index i = 0; i < rows; ++i) {
    from.push_back(static_cast<std::int32_t>(i * 3 % half));
    to.push_back(static_cast<std::int32_t>(half + i * 7 % (places - half)));
  }
  const Integers<Device> from_on_device(device, from), to_on_device(device, to);
  const Activations<Device> all(device, places, width, operand(places * width, 1, precision), gap);
  move_rows(device,
            {.from = all, .from_row = from_on_device.data(), .to = {all}, .to_row = to_on_device.data(), .count = rows});
  return {{.name = "rows", .numbers = all.read("rows"), .exact = true}};
}

/// rows; steps; every: which rows end at each step.
template <class Device>
Results greedy_step_case(Device& device, const OpCase& test, Precision) {
  const attn::Index rows = test.size("rows"), steps = test.size("steps"), every = test.size("every");
  const auto zeros = [](attn::Index count) { return std::vector<std::int32_t>(static_cast<std::size_t>(count)); };
  const Integers<Device> words(device, zeros(rows)), ended(device, zeros(rows)), written(device, zeros(steps * rows)),
      counts(device, zeros(1 + steps)), counters(device, zeros(3 * rows));
  for (attn::Index step = 0; step < steps; ++step) {
    std::vector<std::int32_t> best;
    for (attn::Index i = 0; i < rows; ++i)
      best.push_back(every > 0 && (i + step) % every == 0 ? 3 : static_cast<std::int32_t>(4 + (5 * i + step) % 9));
    const Integers<Device> chosen(device, best);
    greedy_step(device, {.best = chosen.data(),
                         .rows = rows,
                         .end = 3,
                         .tokens = words.data(),
                         .ended = ended.data(),
                         .written = written.data(),
                         .step = counts.data(),
                         .remaining = counts.data() + 1,
                         .counters = counters.data(),
                         .counter_count = 3 * rows});
  }
  Results results;
  const std::pair<const char*, const Integers<Device>*> all[] = {
      {"words", &words}, {"ended", &ended}, {"written", &written}, {"counts", &counts}, {"counters", &counters}};
  for (const auto& [name, integers] : all) {
    const auto numbers = integers->read();
    results.push_back({.name = name, .numbers = Numbers(numbers.begin(), numbers.end()), .exact = true});
  }
  return results;
}

/// places: rows of where they come from; add: of the gradient.
template <class Device>
Results gather_rows_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap"),
                    places = test.size("places");
  const bool add = test.flag("add");
  const Integers<Device> row(device, scattered(rows, places));
  const Activations<Device> from(device, places, width, operand(places * width, 1, precision), gap),
      to(device, rows, width, {}, gap);
  move_rows(device, {.from = from, .from_row = row.data(), .to = {to}, .count = rows});
  const Activations<Device> dto(device, rows, width, operand(rows * width, 2, precision), gap),
      dfrom(device, places, width, add ? operand(places * width, 3, precision) : Numbers{}, gap);
  if (!add) device.zero(dfrom.view());
  move_rows(device, {.from = dto, .to = {dfrom, add}, .to_row = row.data(), .count = rows});
  return {{.name = "to", .numbers = to.read("to"), .exact = true},
          {.name = "dfrom", .numbers = dfrom.read("dfrom"), .exact = !add}};
}

/// y = f(x) and dx = dy f'(x), number by number; y may be x.
template <class F, class Device, class X, class Y>
void elementwise(Device& device, const X& x, const Y& y, const X& dy, attn::Sink<typename Device::Scalar> dx) {
  using Leaf = attn::DenseLeaf<typename Device::Scalar>;
  using Function = attn::Apply<F, Leaf>;
  evaluate_expression_gradient(device, attn::ExpressionGradientArgs<Device, Function>{Function{{Leaf{x, dx}}}, dy});
  evaluate_expression(device, attn::ExpressionArgs<Device, Function>{Function{{Leaf{x, {}}}}, y});
}

/// kind: relu, gelu, gelu_exact or silu, from 0; bound, add; in_place: the result's place is the operand's.
template <class Device>
Results activation_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add");
  const auto numbers = [&](std::uint64_t stream, double bound = 1) {
    return operand(rows * width, stream, precision, bound);
  };
  const Activations<Device> x(device, rows, width, numbers(1, test.number("bound", 3)), gap),
      other(device, rows, width, {}, gap), dy(device, rows, width, numbers(2), gap),
      dx(device, rows, width, add ? numbers(3) : Numbers{}, gap);
  const Activations<Device>& y = test.flag("in_place") ? x : other;
  switch (test.size("kind")) {
    case 0:
      elementwise<attn::functions::Relu>(device, x, y, dy, {dx, add});
      break;
    case 1:
      elementwise<attn::functions::Gelu>(device, x, y, dy, {dx, add});
      break;
    case 2:
      elementwise<attn::functions::GeluExact>(device, x, y, dy, {dx, add});
      break;
    default:
      elementwise<attn::functions::Silu>(device, x, y, dy, {dx, add});
  }
  return {{"y", y.read("y")}, {"dx", dx.read("dx")}};
}

/// bound, add; in_place: the result's place is the operand's.
template <class Device>
Results tanh_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add");
  const auto numbers = [&](std::uint64_t stream, double bound = 1) {
    return operand(rows * width, stream, precision, bound);
  };
  const Activations<Device> x(device, rows, width, numbers(1, test.number("bound", 2)), gap),
      other(device, rows, width, {}, gap), dy(device, rows, width, numbers(2), gap),
      dx(device, rows, width, add ? numbers(3) : Numbers{}, gap);
  const Activations<Device>& y = test.flag("in_place") ? x : other;
  elementwise<attn::functions::Tanh>(device, x, y, dy, {dx, add});
  return {{"y", y.read("y")}, {"dx", dx.read("dx")}};
}
