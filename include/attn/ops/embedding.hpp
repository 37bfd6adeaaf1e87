#pragma once
#include "attn/core/ragged.hpp"
#include "attn/ops/dropout.hpp"

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
  using Scalar = typename Device::Scalar;
  const Token* tokens;  // rows
  Ragged rows;
  Matrix<const Scalar> table;           // vocabulary x width
  Matrix<const Scalar> positions = {};  // at least first_position + longest x width, or none
  Index first_position = 0;
  const std::int32_t* first_positions = nullptr;  // per sentence, on the device; overrides first_position; or null
  double scale = 1;
  Dropout dropout = {};
  Matrix<Scalar> y;  // rows x width
};

template <class Device>
struct EmbeddingGradientArgs {
  using Scalar = typename Device::Scalar;
  const Token* tokens;      // rows
  Matrix<const Scalar> dy;  // rows x width
  double scale = 1;
  Dropout dropout = {};
  Matrix<typename Device::Real> dtable;  // vocabulary x width, accumulates
};

}  // namespace attn
