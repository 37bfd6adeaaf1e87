#pragma once
#include "attn/cuda/numbers.cuh"

// The product of one step of an LSTM: states of 16 sentences times weights that stay in shared memory. A matrix instruction
// adds up 16 terms, and which 16 does not matter as long as both operands agree. So the four lanes that share a row take 8
// neighbours each, 16 bytes, for two instructions: no operand needs to be rearranged.

namespace attn::kernels {

inline constexpr int kLstmChunk = 32;  // terms that a warp takes at once

/// Numbers from one row of states or weights to the next: whole chunks, and rows that begin in different banks.
template <class T>
__host__ __device__ constexpr int lstm_stride(int terms) {
  const int chunks = (terms + kLstmChunk - 1) / kLstmChunk;
  return sizeof(T) == 2 ? (chunks | 1) * kLstmChunk : chunks * kLstmChunk + 4;
}

/// 16 bytes that other blocks may have written since this one last read there.
template <class T>
__device__ Pack<T> load_fresh(const T* from) {
  uint4 bits;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from)
               : "memory");
  return *reinterpret_cast<const Pack<T>*>(&bits);
}

__device__ inline void multiply_16(float (&c)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                                   std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// c += chunks `begin` to `end` of the product of 16 states and 8 columns of weights for each of `tiles`. Lane l holds, in
/// c[j][i], row l / 4 + 8 * (i / 2), column 8 j + 2 * (l % 4) + i % 2. Near: the states lie in shared memory.
template <bool Near, int Tiles>
__device__ void multiply_chunks(float (&c)[Tiles][4], const bfloat16* states, const bfloat16* weights, int stride,
                                int begin, int end, int tiles) {
  const int lane = static_cast<int>(threadIdx.x) % 32, place = lane / 4 * stride + lane % 4 * 8;
  states += place;
  weights += place;
  constexpr int kAhead = Near ? 2 : 4;  // chunks of states on their way
#pragma unroll 1
  for (int first = begin; first < end; first += kAhead) {
    uint4 a[kAhead][2];
#pragma unroll
    for (int k = 0; k < kAhead; ++k)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const bfloat16* from = states + (first + k) * kLstmChunk + half * 8 * stride;
        a[k][half] = uint4{};
        if (first + k < end) {
          const Pack<bfloat16> pack = Near ? load_pack(from) : load_fresh(from);
          a[k][half] = *reinterpret_cast<const uint4*>(&pack);
        }
      }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (first + k >= end) break;
#pragma unroll
      for (int j = 0; j < Tiles; ++j) {
        if (j >= tiles) break;
        const uint4 b = *reinterpret_cast<const uint4*>(weights + (first + k) * kLstmChunk + j * 8 * stride);
        multiply_16(c[j], a[k][0].x, a[k][1].x, a[k][0].y, a[k][1].y, b.x, b.y);
        multiply_16(c[j], a[k][0].z, a[k][1].z, a[k][0].w, a[k][1].w, b.z, b.w);
      }
    }
  }
}

/// The same in float, whose products keep all bits.
template <bool Near, int Tiles>
__device__ void multiply_chunks(float (&c)[Tiles][4], const float* states, const float* weights, int stride, int begin,
                                int end, int tiles) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  states += lane / 4 * stride;
  weights += lane % 4 * 2 * stride;
#pragma unroll 4
  for (int k = begin * kLstmChunk; k < end * kLstmChunk; k += 4) {
    Pack<float> a[2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
      a[half] = Near ? load_pack(states + k + half * 8 * stride) : load_fresh(states + k + half * 8 * stride);
#pragma unroll
    for (int j = 0; j < Tiles; ++j) {
      if (j >= tiles) break;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Pack<float> b = load_pack(weights + k + (j * 8 + i) * stride);
#pragma unroll
        for (int term = 0; term < 4; ++term)
#pragma unroll
          for (int half = 0; half < 2; ++half) c[j][2 * half + i] += a[half][term] * b[term];
      }
    }
  }
}

}  // namespace attn::kernels
