#pragma once
#include "attn/ops/operands.hpp"

// move_rows   to[to_row[i]] = from[from_row[i]] for each i < count, or += if the sink adds; the other rows stay as they are
//
// Without a list, row i is i. It selects rows of a batch, writes new keys and values to a cache, copies those of a
// hypothesis within it, and copies or adds whole activations.
//
// With `appends`, the other rows of `to` predate the op that computes `from`, and the next op is attention in which
// to_row[i] is the last key of sentence i and of no other: a device may fuse the two.

namespace attn {

template <class Device>
struct MoveRowsArgs {
  InputOf<Device> from;                    // rows x width
  const std::int32_t* from_row = nullptr;  // count, or none
  SinkOf<Device> to;                       // destination rows x width; no row is also read
  const std::int32_t* to_row = nullptr;    // count, all different, or none
  Index count;
  bool appends = false;  // with to_row only
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
