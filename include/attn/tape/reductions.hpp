#pragma once
#include "attn/ops/reductions.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/text.hpp"

namespace attn {

// Reductions over the columns of each row or the rows of each sentence, and the broadcast back. Arguments are activations
// or expressions.

namespace detail {

template <class Device>
Variable<Device> softmax(Variable<Device> x, bool log, const RaggedMask& mask) {
  Tape<Device>& tape = x.tape();
  auto y = tape.result(x.rows(), x.cols(), x);
  softmax(tape.device, {.x = x.value, .y = y.value, .log = log, .mask = mask});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    softmax_gradient(back.device, {.y = y.value, .dy = dy, .dx = back.sink(x), .log = log, .mask = mask});
  });
  return y;
}

template <class Device>
Variable<Device, 1> reduce_columns(Variable<Device> x, Reduction kind) {
  Tape<Device>& tape = x.tape();
  auto y = tape.result(x.rows(), 1, x);
  reduce_columns(tape.device, {.kind = kind, .x = x.value, .y = y.value});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    reduce_columns_gradient(back.device, {.kind = kind, .x = x.value, .y = y.value, .dy = dy, .dx = back.sink(x)});
  });
  return y;
}

template <class Device>
Variable<Device> pool(Variable<Device> x, Ragged rows, RowReduction kind) {
  Tape<Device>& tape = x.tape();
  check_rows("pooling", x.rows(), rows);
  auto y = tape.result(rows.count, x.cols(), x);
  reduce_rows(tape.device, {.kind = kind, .x = x.value, .rows = rows, .y = {y.value}});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    reduce_rows_gradient(back.device,
                         {.kind = kind, .x = x.value, .y = y.value, .rows = rows, .dy = dy, .dx = back.sink(x)});
  });
  return y;
}

}  // namespace detail

/// Softmax of each row. torch.softmax(x, dim=1).
auto softmax(const Activation auto& x) { return detail::softmax(evaluated(x), false, {}); }
auto log_softmax(const Activation auto& x) { return detail::softmax(evaluated(x), true, {}); }

/// Softmax over the keys of each query's sentence (tape/ragged_product.hpp). With `causal`, queries see no later keys.
auto softmax(const Activation auto& scores, Ragged queries, Ragged keys, bool causal = false) {
  const auto x = evaluated(scores);
  check_rows("softmax", x.rows(), queries);
  return detail::softmax(x, false, {queries, keys, causal});
}

// One number per row, which broadcasts over columns in expressions.
auto sum_columns(const Activation auto& x) { return detail::reduce_columns(evaluated(x), Reduction::sum); }
auto mean_columns(const Activation auto& x) { return detail::reduce_columns(evaluated(x), Reduction::mean); }
auto max_columns(const Activation auto& x) { return detail::reduce_columns(evaluated(x), Reduction::max); }

// Pooling: one row per sentence.
auto sum_rows(const Activation auto& x, Ragged rows) { return detail::pool(evaluated(x), rows, RowReduction::sum); }
auto mean_rows(const Activation auto& x, Ragged rows) { return detail::pool(evaluated(x), rows, RowReduction::mean); }
auto max_rows(const Activation auto& x, Ragged rows) { return detail::pool(evaluated(x), rows, RowReduction::max); }
auto first_rows(const Activation auto& x, Ragged rows) { return detail::pool(evaluated(x), rows, RowReduction::first); }
auto last_rows(const Activation auto& x, Ragged rows) { return detail::pool(evaluated(x), rows, RowReduction::last); }

/// Repeats one row per sentence for each of the sentence's rows: the inverse of pooling.
template <Activation X>
auto repeat_rows(const X& of, Ragged rows) {
  using Device = typename X::DeviceType;
  const Variable<Device> x = evaluated(of);
  require(x.rows() == rows.count, "repeat_rows: ", x.rows(), " rows for ", rows.count,
          " sentences. Pass one row per sentence.");
  Tape<Device>& tape = x.tape();
  auto y = tape.result(rows.rows, x.cols(), x);
  reduce_rows_gradient(tape.device, {.rows = rows, .dy = x.value, .dx = {y.value}});  // of a sum
  tape.on_backward(
      y, [x, rows](Tape<Device>& back, auto dy) { reduce_rows(back.device, {.x = dy, .rows = rows, .y = back.sink(x)}); });
  return y;
}

/// Repeats a single row `rows` times, for example a learned scalar: repeat_rows(variable(tape, gate), x.rows()).
template <Activation X>
auto repeat_rows(const X& of, Index rows) {
  const auto x = evaluated(of);
  require(x.rows() == 1, "repeat_rows: ", x.rows(), " rows, but only a single row can be repeated");
  const std::int32_t offsets[] = {0, static_cast<std::int32_t>(rows)};
  return repeat_rows(x, upload_offsets(x.tape(), offsets, 1));
}

}  // namespace attn
