#pragma once
#include "attn/ops/operands.hpp"

// Rotary position embedding of Su et al. 2021, in the layout of GPT-NeoX and Llama: in each head of d columns, columns j
// and j + d/2 are the coordinates of a point that rotates by p / base^(2j / d) at position p.
//
//   rotary   y[j]       = x[j] cos - x[j + d/2] sin
//            y[j + d/2] = x[j + d/2] cos + x[j] sin
//
// p = first_position + i - the first row of its sentence, as in ops/embedding.hpp. `inverse` rotates back, which is the
// gradient. Rows outside all sentences are not touched.

namespace attn {

template <class Device>
struct RotaryArgs {
  InputOf<Device> x;  // rows x heads * d
  Ragged rows;
  InputOf<Device> table;  // at least first_position + longest x d: d/2 sines, then d/2 cosines (SinusoidOrder::halves)
  Index first_position = 0;
  const std::int32_t* first_positions = nullptr;  // per sentence, on the device; overrides first_position; or null
  bool inverse = false;
  SinkOf<Device> y;  // rows x heads * d; may be x
};

}  // namespace attn
