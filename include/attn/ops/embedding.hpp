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

}  // namespace attn
