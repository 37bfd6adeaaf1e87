#pragma once
#include "attn/cuda/support/error.cuh"

namespace attn {

// CUDA's scalar functions, which the functions of activations in tape/arithmetic.hpp would hide from kernels.
using ::max;
using ::min;

// Kernels compute in float and keep their operands in T: float or bfloat16.

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bfloat16 x) { return __bfloat162float(x); }

template <class T>
__device__ T from_float(float x) {
  if constexpr (std::is_same_v<T, float>)
    return x;
  else
    return __float2bfloat16(x);
}

/// Calls visit(i) for i = 0 to N - 1, or visit(i, j) for j = 0 to N - 1 in each of M turns, without a loop, so that arrays that
/// they index stay in registers.
template <int N, class Visit>
__device__ __forceinline__ void unrolled(const Visit& visit) {
#pragma unroll
  for (int i = 0; i < N; ++i) visit(i);
}
template <int M, int N, class Visit>
__device__ __forceinline__ void unrolled(const Visit& visit) {
#pragma unroll
  for (int i = 0; i < M; ++i)
#pragma unroll
    for (int j = 0; j < N; ++j) visit(i, j);
}

/// N elements that are loaded or stored at once, by default 16 bytes: 4 floats or 8 bfloat16.
template <class T, int N = 16 / sizeof(T)>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Pack {
  static constexpr int size = N;
  T numbers[N];

  __device__ float operator[](int i) const { return to_float(numbers[i]); }
  __device__ void set(int i, float x) { numbers[i] = from_float<T>(x); }
};

template <class T>
__device__ Pack<T> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T>*>(from);
}
template <int N, class T>
__device__ Pack<T, N> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <class T, int N>
__device__ void store_pack(T* to, Pack<T, N> pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

/// Whether a matrix's rows can be read and written in packs.
template <class T>
bool in_packs(const T* data, Index cols, Index stride) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && cols % Pack<T>::size == 0 && stride % Pack<T>::size == 0;
}

/// Reductions over groups of `Lanes` adjacent lanes, in a fixed order; every lane gets the result.
template <int Lanes = 32>
__device__ float warp_sum(float x) {
#pragma unroll
  for (int other = Lanes / 2; other > 0; other /= 2) x += __shfl_xor_sync(0xffffffffU, x, other);
  return x;
}
template <int Lanes = 32>
__device__ float warp_max(float x) {
#pragma unroll
  for (int other = Lanes / 2; other > 0; other /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, other));
  return x;
}

/// The warps' results of a block of 32 * Warps threads, for every thread to combine in order. Synchronises the block.
template <int Warps>
__device__ const float* share_by_warps(float x) {
  __shared__ float parts[Warps];
  __syncthreads();  // the parts of an earlier call have been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  return parts;
}

/// Reductions over a block of 32 * Warps threads; every thread gets the result. They synchronise the block.
template <int Warps>
__device__ float block_sum(float x) {
  const float* const parts = share_by_warps<Warps>(warp_sum(x));
  float sum = 0;
  unrolled<Warps>([&](int i) { sum += parts[i]; });
  return sum;
}
template <int Warps>
__device__ float block_max(float x) {
  const float* const parts = share_by_warps<Warps>(warp_max(x));
  float most = parts[0];
#pragma unroll
  for (int i = 1; i < Warps; ++i) most = fmaxf(most, parts[i]);
  return most;
}

}  // namespace attn
