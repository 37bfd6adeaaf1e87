#pragma once
#include <algorithm>

#include "attn/ops/move_rows.hpp"
#include "attn/ops/ragged_product.hpp"
#include "attn/ops/reductions.hpp"
#include "cuda/guarded.hpp"

// Softmax, reductions and products of ragged activations. Operands hold NaN where an op must not read.

/// Which rows of a matrix belong to a sentence, with `spare` rows after each that belong to none.
inline std::vector<bool> rows_in_sentences(const std::vector<std::int32_t>& lengths, attn::Index spare) {
  std::vector<bool> inside;
  for (const std::int32_t length : lengths) {
    inside.insert(inside.end(), static_cast<std::size_t>(length), true);
    inside.insert(inside.end(), static_cast<std::size_t>(spare), false);
  }
  return inside;
}

/// How many columns each row of `queries` sees.
inline std::vector<attn::Index> visible_columns(const std::vector<std::int32_t>& queries,
                                                const std::vector<std::int32_t>& keys, attn::Index spare, bool causal) {
  std::vector<attn::Index> visible;
  for (std::size_t s = 0; s < queries.size(); ++s) {
    for (std::int32_t i = 0; i < queries[s]; ++i)
      visible.push_back(causal ? std::clamp(keys[s] - queries[s] + i + 1, 0, keys[s]) : keys[s]);
    visible.insert(visible.end(), static_cast<std::size_t>(spare), 0);
  }
  return visible;
}

/// NaN in the columns of each row that are not visible.
inline Numbers hidden(Numbers numbers, attn::Index cols, const std::vector<attn::Index>& visible) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (static_cast<attn::Index>(i) % cols >= visible[i / static_cast<std::size_t>(cols)]) numbers[i] = kUnset;
  return numbers;
}

/// rows, width, gap, bound, log, add; with a mask queries, keys, causal and spare instead of rows.
template <class Device>
Results softmax_case(Device& device, const OpCase& test, Precision precision) {
  const bool add = test.flag("add"), log = test.flag("log"), masked = test.settings.contains("queries");
  const attn::Index width = test.size("width"), gap = test.size("gap"), spare = test.size("spare");
  const auto queries = masked ? test.lengths("queries") : std::vector<std::int32_t>{};
  const auto keys = masked ? test.lengths("keys") : std::vector<std::int32_t>{};
  const Layout<Device> query_rows(device, queries, static_cast<std::int32_t>(spare)), key_rows(device, keys);
  attn::RaggedMask mask{};
  if (masked) mask = attn::RaggedMask{.queries = query_rows, .keys = key_rows, .causal = test.flag("causal")};
  const attn::Index rows = masked ? query_rows.rows() : test.size("rows");
  const auto visible = masked ? visible_columns(queries, keys, spare, mask.causal)
                              : std::vector<attn::Index>(static_cast<std::size_t>(rows), width);
  const auto numbers = [&](std::uint64_t stream, double bound) {
    return hidden(operand(rows * width, stream, precision, bound), width, visible);
  };
  const Activations<Device> x(device, rows, width, numbers(1, test.number("bound", 3)), gap),
      dy(device, rows, width, numbers(2, 1), gap), y(device, rows, width, {}, gap),
      dx(device, rows, width, add ? operand(rows * width, 3, precision) : Numbers{}, gap);
  softmax(device, {.x = x, .y = y, .log = log, .mask = mask});
  softmax_gradient(device, {.y = y, .dy = dy, .dx = {dx, add}, .log = log, .mask = mask});
  return {{"y", y.read("y")}, {"dx", dx.read("dx")}};
}

/// rows, width, gap, add; kind: a number of Reduction; levels: how many different numbers there are, 0 for many.
template <class Device>
Results reduce_columns_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add");
  const auto kind = static_cast<attn::Reduction>(test.size("kind"));
  Numbers numbers = operand(rows * width, 1, precision);
  if (const attn::Index levels = test.size("levels"); levels > 0) {
    const auto whole = whole_numbers(rows * width, 1, levels);
    numbers.assign(whole.begin(), whole.end());
  }
  const Activations<Device> x(device, rows, width, numbers, gap), dy(device, rows, 1, operand(rows, 2, precision), gap),
      y(device, rows, 1, {}, gap), dx(device, rows, width, add ? operand(rows * width, 3, precision) : Numbers{}, gap);
  reduce_columns(device, {.kind = kind, .x = x, .y = y});
  reduce_columns_gradient(device, {.kind = kind, .x = x, .y = y, .dy = dy, .dx = {dx, add}});
  return {{.name = "y", .numbers = y.read("y"), .exact = kind == attn::Reduction::max},
          {.name = "dx", .numbers = dx.read("dx"), .exact = kind != attn::Reduction::mean && !add}};
}

/// lengths, spare, width, gap, add; kind: a number of RowReduction; levels: as of reduce_columns.
template <class Device>
Results reduce_rows_case(Device& device, const OpCase& test, Precision precision) {
  const auto lengths = test.lengths("lengths");
  const attn::Index width = test.size("width"), gap = test.size("gap"), spare = test.size("spare");
  const Layout<Device> layout(device, lengths, static_cast<std::int32_t>(spare));
  const attn::Index rows = layout.rows(), sentences = attn::Ragged(layout).count;
  const bool add = test.flag("add");
  const auto kind = static_cast<attn::RowReduction>(test.size("kind"));
  Numbers numbers = operand(rows * width, 1, precision);
  if (const attn::Index levels = test.size("levels"); levels > 0) {
    const auto whole = whole_numbers(rows * width, 1, levels);
    numbers.assign(whole.begin(), whole.end());
  }
  const Activations<Device> x(device, rows, width, numbers, gap, rows_in_sentences(lengths, spare)),
      dy(device, sentences, width, operand(sentences * width, 2, precision), gap), y(device, sentences, width, {}, gap),
      dx(device, rows, width, add ? operand(rows * width, 3, precision) : Numbers{}, gap);
  reduce_rows(device, {.kind = kind, .x = x, .rows = layout, .y = {y}});
  reduce_rows_gradient(device, {.kind = kind, .x = x, .y = y, .rows = layout, .dy = dy, .dx = {dx, add}});
  const bool sums = kind == attn::RowReduction::sum || kind == attn::RowReduction::mean;
  return {{.name = "y", .numbers = y.read("y"), .exact = !sums},
          {.name = "dx", .numbers = dx.read("dx"), .exact = kind != attn::RowReduction::mean && !add}};
}

/// lengths, spare, width, gap, add.
template <class Device>
Results repeat_rows_case(Device& device, const OpCase& test, Precision precision) {
  const auto lengths = test.lengths("lengths");
  const attn::Index width = test.size("width"), gap = test.size("gap"), spare = test.size("spare");
  const Layout<Device> layout(device, lengths, static_cast<std::int32_t>(spare));
  const attn::Index rows = layout.rows(), sentences = attn::Ragged(layout).count;
  const bool add = test.flag("add");
  const Activations<Device> x(device, sentences, width, operand(sentences * width, 1, precision), gap),
      y(device, rows, width, {}, gap),
      dy(device, rows, width, operand(rows * width, 2, precision), gap, rows_in_sentences(lengths, spare)),
      dx(device, sentences, width, add ? operand(sentences * width, 3, precision) : Numbers{}, gap);
  reduce_rows_gradient(device, {.rows = layout, .dy = x, .dx = {y}});
  reduce_rows(device, {.x = dy, .rows = layout, .y = {dx, add}});
  return {{.name = "y", .numbers = y.read("y"), .exact = true}, {"dx", dx.read("dx")}};
}

/// rows, width, gap, scale, add: of the gradient, which is a fill.
template <class Device>
Results reduce_all_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), width = test.size("width"), gap = test.size("gap");
  const bool add = test.flag("add");
  const double scale = test.number("scale", 1);
  const Activations<Device> x(device, rows, width, operand(rows * width, 1, precision), gap),
      dx(device, rows, width, add ? operand(rows * width, 3, precision) : Numbers{}, gap);
  const Reals<Device> sum(device, 1, 1, {1});
  reduce_all(device, {.x = x, .y = sum.data(), .scale = scale});
  fill(device, {.value = 0.75 * scale, .y = {dx, add}});
  // One number, a sum of many: which order of adding is the luckier is chance.
  return {{.name = "y", .numbers = sum.read("y"), .in_float = true, .floor = 0x1p-21}, {"dx", dx.read("dx")}};
}

/// queries, keys: the lengths of both sides; spare, width, gap, scale, add.
template <class Device>
Results ragged_product_case(Device& device, const OpCase& test, Precision precision) {
  const auto queries = test.lengths("queries"), keys = test.lengths("keys");
  const attn::Index width = test.size("width"), gap = test.size("gap"), spare = test.size("spare");
  const Layout<Device> a_rows(device, queries, static_cast<std::int32_t>(spare)),
      b_rows(device, keys, static_cast<std::int32_t>(spare));
  const attn::Index longest = attn::Ragged(b_rows).longest;
  const bool add = test.flag("add");
  const double scale = test.number("scale", 1);
  const auto make = [&](const auto& lengths, attn::Index rows, std::uint64_t stream) {
    return Activations<Device>(device, rows, width, operand(rows * width, stream, precision), gap,
                               rows_in_sentences(lengths, spare));
  };
  const auto result = [&](attn::Index rows, attn::Index cols, std::uint64_t stream) {
    return Activations<Device>(device, rows, cols, add ? operand(rows * cols, stream, precision) : Numbers{}, gap);
  };
  const auto a = make(queries, a_rows.rows(), 1), b = make(keys, b_rows.rows(), 2);
  const Activations<Device> w(
      device, a_rows.rows(), longest,
      hidden(operand(a_rows.rows() * longest, 3, precision), longest, visible_columns(queries, keys, spare, false)), gap);
  const auto scores = result(a_rows.rows(), longest, 4), mixed = result(a_rows.rows(), width, 5),
             transposed = result(b_rows.rows(), width, 6);
  ragged_scores(device, {.a = a, .a_rows = a_rows, .b = b, .b_rows = b_rows, .scale = scale, .y = {scores, add}});
  ragged_mix(device, {.a = w, .a_rows = a_rows, .b = b, .b_rows = b_rows, .scale = scale, .y = {mixed, add}});
  ragged_mix_transposed(device,
                        {.a = w, .a_rows = a_rows, .b = a, .b_rows = b_rows, .scale = scale, .y = {transposed, add}});
  return {
      {"scores", scores.read("scores")}, {"mix", mixed.read("mix")}, {"mix_transposed", transposed.read("mix_transposed")}};
}
