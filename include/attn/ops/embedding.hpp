#pragma once
#include "attn/core/ragged.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/no_backend.hpp"

// From token ids to vectors.
//
//   embedding            y[i] = dropout(scale * table[token[i]] + positions[p]),
//                        p = first_position + i - the first row of its sentence;
//                        first_position is one for all sentences, or each has its own
//   embedding_gradient   dtable[token[i]] += scale * dropout(dy[i]), in the order of i: the same bits every time
//   sinusoid             alternating: positions[p, 2i] = sin(p / 10000^(2i / width)), positions[p, 2i + 1] = cos(the same);
//                        halves: the same sines in the first half of the columns, the cosines in the second, as Marian has them

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
  const std::int32_t* first_positions = nullptr;  // of each sentence, on the device, instead of the one; or none
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

template <class Device>
void embedding(Device&, const EmbeddingArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void embedding_gradient(Device&, const EmbeddingGradientArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void sinusoid(Device&, Matrix<typename Device::Scalar>, SinusoidOrder = SinusoidOrder::alternating) {
  no_backend<Device>();
}

}  // namespace attn
