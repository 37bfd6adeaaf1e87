#pragma once
#include "attn/cuda/support/mma.cuh"
#include "attn/cuda/support/vector_types.cuh"

// One LSTM unit at one step, as defined in ops/lstm.hpp. A 16-bit T keeps 8 bits, so the GPU's fast exponential and
// division, accurate to 20 bits, suffice.
//
// The product of one LSTM step: a warp multiplies the states of 16 sentences by some columns of weights. A matrix
// instruction sums 16 terms, whose order does not matter as long as both operands agree. So the four lanes that share a row
// load 8 adjacent terms each, 16 bytes, for two instructions: no operand needs to be rearranged.

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

inline constexpr int kLstmChunk = 32;  // terms that a warp loads at once

/// Stride of states and weights in shared memory, in elements: whole chunks, padded to avoid bank conflicts.
template <class T>
__host__ __device__ constexpr int lstm_stride(int terms) {
  const int chunks = (terms + kLstmChunk - 1) / kLstmChunk;
  return sizeof(T) == 2 ? (chunks | 1) * kLstmChunk : chunks * kLstmChunk + 4;
}

/// Loads 16 bytes past L1, since other blocks may have written them.
template <class T>
__device__ Pack<T> load_fresh(const T* from) {
  uint4 bits;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from)
               : "memory");
  return *reinterpret_cast<const Pack<T>*>(&bits);
}

/// c += `Count` chunks of terms, from chunk `first` on, of the product of 16 states and 8 columns of weights for each of `tiles`.
/// Lane l holds, in c[j][i], row l / 4 + 8 * (i / 2), column 8 j + 2 * (l % 4) + i % 2. states(half, k): 16 bytes of row
/// l / 4 + 8 * half, from term k on; weights(n, k): of column n.
template <int Count, int Tiles, class States, class Weights>
__device__ void multiply_some(bfloat16, float (&c)[Tiles][4], int first, int tiles, const States& states,
                              const Weights& weights) {
  const int lane = static_cast<int>(threadIdx.x) % 32, begin = first * kLstmChunk + lane % 4 * 8;
  uint4 a[Count][2];  // loads in flight together
#pragma unroll
  for (int k = 0; k < Count; ++k)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Pack<bfloat16> pack = states(half, begin + k * kLstmChunk);
      a[k][half] = *reinterpret_cast<const uint4*>(&pack);
    }
#pragma unroll
  for (int k = 0; k < Count; ++k)
#pragma unroll
    for (int j = 0; j < Tiles; ++j) {
      if (j >= tiles) break;
      const Pack<bfloat16> pack = weights(8 * j + lane / 4, begin + k * kLstmChunk);
      const uint4 b = *reinterpret_cast<const uint4*>(&pack);
      mma(c[j], a[k][0].x, a[k][1].x, a[k][0].y, a[k][1].y, b.x, b.y);
      mma(c[j], a[k][0].z, a[k][1].z, a[k][0].w, a[k][1].w, b.z, b.w);
    }
}

/// The same in float with exact float operands. The given chunks are summed first, to limit rounding errors.
template <int Count, int Tiles, class States, class Weights>
__device__ void multiply_some(float, float (&c)[Tiles][4], int first, int tiles, const States& states,
                              const Weights& weights) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum[Tiles][4] = {};
#pragma unroll 1
  for (int k = first * kLstmChunk; k < (first + Count) * kLstmChunk; k += 8) {
    const Pack<float> a[2][2] = {{states(0, k), states(1, k)}, {states(0, k + 4), states(1, k + 4)}};
#pragma unroll
    for (int j = 0; j < Tiles; ++j) {
      if (j >= tiles) break;
#pragma unroll
      for (int four = 0; four < 2; ++four)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const Pack<float> b = weights(8 * j + lane % 4 * 2 + i, k + 4 * four);
#pragma unroll
          for (int term = 0; term < 4; ++term)
#pragma unroll
            for (int half = 0; half < 2; ++half) sum[j][2 * half + i] += a[four][half][term] * b[term];
        }
    }
  }
#pragma unroll
  for (int j = 0; j < Tiles; ++j)
    for (int i = 0; i < 4; ++i) c[j][i] += sum[j][i];
}

/// The same for all chunks from `begin` to `end`, `Ahead` at once.
template <class T, int Ahead, int Tiles, class States, class Weights>
__device__ void multiply_chunks(float (&c)[Tiles][4], int begin, int end, int tiles, const States& states,
                                const Weights& weights) {
  int first = begin;
#pragma unroll 1
  for (; first + Ahead <= end; first += Ahead) multiply_some<Ahead>(T{}, c, first, tiles, states, weights);
#pragma unroll 1
  for (; first < end; ++first) multiply_some<1>(T{}, c, first, tiles, states, weights);
}

}  // namespace attn::kernels
