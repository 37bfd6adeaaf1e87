#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/ops/operands.hpp"

// Embeds token ids.
//
//   embedding            y[i] = dropout(scale * table[token[i]] + positions[p]),
//                        p = first_position + i - the first row of its sentence;
//                        first_position is shared by all sentences or given per sentence
//   embedding_gradient   dtable[token[i]] += scale * dropout(dy[i]), in the order of i, so results are deterministic
//   sinusoid             alternating: positions[p, 2i] = sin(p / base^(2i / width)), positions[p, 2i + 1] = cos(the same);
//                        halves: all sines in the first half of the columns, all cosines in the second, as in Marian

namespace attn {

enum class SinusoidOrder { alternating, halves };

template <class Device>
struct EmbeddingArgs {
  const Token* tokens;  // rows
  Ragged rows;
  InputOf<Device> table;           // vocabulary x width
  InputOf<Device> positions = {};  // at least first_position + longest x width, or none
  Index first_position = 0;
  const std::int32_t* first_positions = nullptr;  // per sentence, on the device; overrides first_position; or null
  double scale = 1;
  Dropout dropout = {};
  OutputOf<Device> y;  // rows x width
};

template <class Device>
struct EmbeddingGradientArgs {
  const Token* tokens;  // rows
  InputOf<Device> dy;   // rows x width
  double scale = 1;
  Dropout dropout = {};
  Matrix<typename Device::Real> dtable;  // vocabulary x width, accumulates
};

// Rotary position embedding of Su et al. 2021, in the layout of GPT-NeoX and Llama: in each head of d columns, columns j
// and j + d/2 are the coordinates of a point that rotates by p / base^(2j / d) at position p.
//
//   rotary   y[j]       = x[j] cos - x[j + d/2] sin
//            y[j + d/2] = x[j + d/2] cos + x[j] sin
//
// p = first_position + i - the first row of its sentence, as for embedding. `inverse` rotates back, which is the
// gradient. Rows outside all sentences are not touched.

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
