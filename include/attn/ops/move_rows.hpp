#pragma once
#include "attn/ops/operands.hpp"

// copy_rows   rows[to[i]] = rows[from[i]]: duplicates the keys and values of a hypothesis in a cache. No row is both read
//             and written, and none is written twice.

namespace attn {

template <class Device>
struct CopyRowsArgs {
  OutputOf<Device> rows;          // cache rows x width
  const std::int32_t *from, *to;  // count
  Index count = 0;
};

// gather_rows            to[i] = from[row[i]]: selects rows of a batch, for example those of one step
// gather_rows_gradient   sets or adds: dfrom[row[i]] = dto[i], and 0 for all other rows of dfrom; row[i] must be unique

template <class Device>
struct GatherRowsArgs {
  InputOf<Device> from;     // source rows x width
  const std::int32_t* row;  // rows
  OutputOf<Device> to;      // rows x width
};

template <class Device>
struct GatherRowsGradientArgs {
  InputOf<Device> dto;      // rows x width
  const std::int32_t* row;  // rows, all different
  SinkOf<Device> dfrom;     // source rows x width
};

// scatter_rows   to[row[i]] = from[i]: appends new keys and values to a cache
//
// With `appends`, the other rows of `to` predate the op that computes `from`, and the next op is attention in which row[i]
// is the last key of sentence i and of no other: a device may fuse the two.

template <class Device>
struct ScatterRowsArgs {
  InputOf<Device> from;     // rows x width
  const std::int32_t* row;  // rows, all different
  OutputOf<Device> to;      // destination rows x width
  bool appends = false;
};

// Broadcasts one row per sentence to all rows of the sentence.
//
//   repeat_rows            y[i, c] = x[s, c] for each row i of sentence s; 0 for rows outside all sentences
//   repeat_rows_gradient   dx[s, c] = sum over the rows i of s of dy[i, c]

template <class Device>
struct RepeatRowsArgs {
  InputOf<Device> x;  // sentences x cols
  Ragged rows;
  OutputOf<Device> y;  // rows x cols
};

template <class Device>
struct RepeatRowsGradientArgs {
  InputOf<Device> dy;  // rows x cols
  Ragged rows;
  SinkOf<Device> dx;  // sentences x cols
};

// Repeats each head for grouped-query attention (Ainslie et al. 2023), where several query heads share a key-value head.
//
//   repeat_heads            y[i, h d + j] = x[i, (h / times) d + j]
//   repeat_heads_gradient   dx[i, g d + j] = sum over r < times of dy[i, (g times + r) d + j]

template <class Device>
struct RepeatHeadsArgs {
  InputOf<Device> x;  // rows x heads * d
  Index width;        // d
  Index times;
  OutputOf<Device> y;  // rows x times * heads * d
};

template <class Device>
struct RepeatHeadsGradientArgs {
  InputOf<Device> dy;  // rows x times * heads * d
  Index width;         // d
  Index times;
  SinkOf<Device> dx;  // rows x heads * d
};

}  // namespace attn
