#pragma once
#include "attn/cuda/support/vector_types.cuh"

// One LSTM unit at one step, as defined in ops/lstm.hpp. A 16-bit T keeps 8 bits, so the GPU's fast exponential and
// division, accurate to 20 bits, suffice.

namespace attn::kernels {

template <class T>
__device__ float lstm_sigmoid(float x) {
  if constexpr (sizeof(T) == 2)
    return __fdividef(1, 1 + __expf(-x));
  else
    return 1 / (1 + expf(-x));
}

template <class T>
__device__ float lstm_tanh(float x) {
  if constexpr (sizeof(T) == 2)
    return 1 - __fdividef(2, 1 + __expf(2 * x));
  else
    return tanhf(x);
}

/// Activates the gates, updates c to the state after the step, and returns h.
template <class T>
__device__ float lstm_unit(float (&gate)[4], float& c) {
  gate[0] = lstm_sigmoid<T>(gate[0]);
  gate[1] = lstm_sigmoid<T>(gate[1]);
  gate[2] = lstm_tanh<T>(gate[2]);
  gate[3] = lstm_sigmoid<T>(gate[3]);
  c = gate[1] * c + gate[0] * gate[2];
  return gate[3] * lstm_tanh<T>(c);
}

/// Replaces the gates by their gradients, and dc by the gradient of c before the step.
template <class T>
__device__ void lstm_unit_gradient(float (&gate)[4], float c_before, float c, float dh, float& dc) {
  const float i = gate[0], f = gate[1], g = gate[2], o = gate[3], squashed = lstm_tanh<T>(c);
  const float dcell = dc + dh * o * (1 - squashed * squashed);
  gate[0] = dcell * g * i * (1 - i);
  gate[1] = dcell * c_before * f * (1 - f);
  gate[2] = dcell * i * (1 - g * g);
  gate[3] = dh * squashed * o * (1 - o);
  dc = dcell * f;
}

}  // namespace attn::kernels
