#pragma once
#include "attn/ops/move_rows.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// Joins two texts sentence by sentence: the rows of a sentence of a, then those of the same sentence of b. Returns the
/// rows and their layout.
template <class Device>
std::pair<Variable<Device>, Ragged> concat_rows(Variable<Device> a, Ragged a_rows, Variable<Device> b, Ragged b_rows) {
  const std::int32_t *of_a = a_rows.offsets_on_host, *of_b = b_rows.offsets_on_host;
  require(a.cols() == b.cols() && a_rows.count == b_rows.count, "concat_rows: ", a_rows.count, " sentences of ", a.cols(),
          " columns with ", b_rows.count, " of ", b.cols());
  require(of_a != nullptr && of_b != nullptr && of_a[a_rows.count] == a.rows() && of_b[b_rows.count] == b.rows(),
          "concat_rows: give each activation the rows of its text, as from upload(tape, sentences)");
  Tape<Device>& tape = innermost(a, b);
  auto& memory = tape.device.tape_nodes;
  auto* const offsets = memory.template array<std::int32_t>(a_rows.count + 1);
  auto* const places = memory.template array<std::int32_t>(a.rows() + b.rows());  // of the rows of a, then of b
  offsets[0] = 0;
  for (Index s = 0; s < a_rows.count; ++s) {
    const std::int32_t middle = offsets[s] + of_a[s + 1] - of_a[s];
    std::iota(places + of_a[s], places + of_a[s + 1], offsets[s]);
    std::iota(places + a.rows() + of_b[s], places + a.rows() + of_b[s + 1], middle);
    offsets[s + 1] = middle + of_b[s + 1] - of_b[s];
  }
  const std::int32_t* const row_of_a = tape.upload(places, a.rows() + b.rows());
  const std::int32_t* const row_of_b = row_of_a + a.rows();
  auto y = tape.result(a.rows() + b.rows(), a.cols(), a, b);
  move_rows(tape.device, {.from = a.value, .to = {y.value}, .to_row = row_of_a, .count = a.rows()});
  move_rows(tape.device, {.from = b.value, .to = {y.value}, .to_row = row_of_b, .count = b.rows()});
  tape.on_backward(y, [=](Tape<Device>& back, auto dy) {
    for (const auto& [x, row] : {std::pair(a, row_of_a), std::pair(b, row_of_b)})
      if (x.slot != nullptr) move_rows(back.device, {.from = dy, .from_row = row, .to = back.sink(x), .count = x.rows()});
  });
  Ragged rows = upload_offsets(tape, offsets, a_rows.count);
  rows.offsets_on_host = offsets;
  return {y, rows};
}

}  // namespace attn
