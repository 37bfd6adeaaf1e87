#pragma once
#include "attn/ops/operands.hpp"

// Softmax or log-softmax of each row.
//
//   softmax            y = exp(x) / sum(exp(x)),   or with log: y = x - log(sum(exp(x)))
//   softmax_gradient   dx = y * (dy - sum(y * dy)),   or with log: dx = dy - exp(y) * sum(dy)
//
// With a mask, row i sees only its first columns. Masked columns are 0 in y and dx, even with log, and are never read. A
// row that sees no column, or only -inf, is 0. torch.nn.functional.softmax and log_softmax.

namespace attn {

/// The visible columns of each row of a score matrix. Row i of sentence s of `queries`, which has n rows, sees the first m
/// columns, m = keys.length(s). With `causal` it sees the first m - n + i + 1, as in ops/attention.hpp. A row outside all
/// sentences sees none. Without keys there is no mask.
struct RaggedMask {
  Ragged queries, keys;
  bool causal = false;

  constexpr bool active() const { return keys.begin != nullptr; }
};

/// Throws an Error if a mask does not fit a matrix of `cols` columns.
inline void check_mask(const char* op, const RaggedMask& mask, Index cols) {
  if (!mask.active()) return;
  refuse_lists(op, mask.queries);
  refuse_lists(op, mask.keys);
  require(mask.queries.count == mask.keys.count, op, ": the mask has ", mask.queries.count, " sentences of queries and ",
          mask.keys.count, " of keys; pass the same sentences for both");
  require(mask.keys.longest <= cols, op, ": a sentence has ", mask.keys.longest, " keys, but the matrix has ", cols,
          " columns; use at least as many columns as the longest sentence has keys");
}

/// x and y must not overlap.
template <class Device>
struct SoftmaxArgs {
  InputOf<Device> x;   // rows x cols
  OutputOf<Device> y;  // rows x cols
  bool log = false;
  RaggedMask mask = {};
};

template <class Device>
struct SoftmaxGradientArgs {
  InputOf<Device> y, dy;  // rows x cols
  SinkOf<Device> dx;      // rows x cols
  bool log = false;
  RaggedMask mask = {};
};

}  // namespace attn
