#pragma once
#include "attn/cuda/input_feeding/walk.cuh"

// Block-level attention of one state over its source: each warp scores a key, then the threads sum columns.

namespace attn::kernels {

/// Buffers for one source, in the block's memory for sums.
struct FeedingAttention {
  float *state, *dcontext;  // width, value width
  float *weight, *dweight;  // of each key
  float* parts;             // of sums over keys

  __device__ FeedingAttention(float* memory, int width, int value, int longest)
      : state(memory),
        dcontext(state + width),
        weight(dcontext + value),
        dweight(weight + longest),
        parts(dweight + longest) {}
};

/// Size of these buffers in floats. Partial sums take N columns per thread, or all columns.
template <class T>
int feeding_attention_numbers(int width, int value, int longest) {
  return width + value + 2 * longest + std::max({kFeedingThreads * Pack<T>::size, width, value});
}

/// Copies a row written by other blocks to shared memory.
template <int N, class T>
__device__ void load_state(float* to, const T* row, int count) {
  for (int j = static_cast<int>(threadIdx.x) * Pack<T>::size; j < count; j += kFeedingThreads * Pack<T>::size) {
    const Pack<T> pack = load_operand<N>(row, j, count);
    for (int k = 0; k < Pack<T>::size && j + k < count; ++k) to[j + k] = pack[k];
  }
}

/// Warp-level dot product of a row and floats in shared memory; every lane gets it.
template <int N, class T>
__device__ float dot(const T* row, const float* numbers, int count, int lane) {
  float sum = 0;
  for (int j = lane * N; j < count; j += 32 * N) {
    const Pack<T, N> pack = load_pack<N>(row + j);
    for (int k = 0; k < N; ++k) sum += pack[k] * numbers[j + k];
  }
  return warp_sum(sum);
}

/// Calls give(column, sum of weight[j] * row j) for each column.
template <int N, class T, class Give>
__device__ void weighted_sum(const Matrix<const T>& matrix, Index first, int count, const float* weight, float* parts,
                             const Give& give) {
  const int cols = static_cast<int>(matrix.cols), packs = (cols + N - 1) / N, across = min(packs, kFeedingThreads);
  const int groups = kFeedingThreads / across, part = static_cast<int>(threadIdx.x) / across;
  if (part < groups)
    for (int pack = static_cast<int>(threadIdx.x) % across; pack < packs; pack += across) {
      float sum[N] = {};
#pragma unroll 4
      for (int j = part; j < count; j += groups) {
        const Pack<T, N> numbers = load_pack<N>(row_of(matrix, first + j) + pack * N);
        for (int k = 0; k < N; ++k) sum[k] += weight[j] * numbers[k];
      }
      for (int k = 0; k < N; ++k) parts[part * cols + pack * N + k] = sum[k];
    }
  __syncthreads();
  for (int column = static_cast<int>(threadIdx.x); column < cols; column += kFeedingThreads) {
    float total = 0;
    for (int i = 0; i < groups; ++i) total += parts[i * cols + column];
    give(column, total);
  }
}

/// Computes the context of row r, the state of the group's sentence i.
template <int N, class T>
__device__ void feeding_attention(const FeedingBlock<T, N>& block, const InputFeedingArgs<Cuda<T>>& args, int i, Index r) {
  const int width = static_cast<int>(args.width()), count = block.keys[i];
  const Index first = block.first_key[i];
  const FeedingAttention at(block.sums, width, static_cast<int>(args.values.cols), block.walk.source_longest);
  T* to = row_of(args.seen, r) + width;
  __syncthreads();  // the buffers have been read
  load_state<N>(at.state, row_of(args.seen, r), width);
  __syncthreads();
  for (int j = block.warp; j < count; j += kFeedingWarps) {
    const float score = dot<N>(row_of(args.keys, first + j), at.state, width, block.lane);
    if (block.lane == 0) at.weight[j] = score * static_cast<float>(args.scale);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0;  // every warp computes both
  for (int j = block.lane; j < count; j += 32) most = fmaxf(most, at.weight[j]);
  most = warp_max(most);
  for (int j = block.lane; j < count; j += 32) sum += expf(at.weight[j] - most);
  sum = warp_sum(sum);
  if (threadIdx.x == 0) args.lse[r] = count > 0 ? most + logf(sum) : -INFINITY;
  for (int j = static_cast<int>(threadIdx.x); j < count; j += kFeedingThreads)
    at.dweight[j] = expf(at.weight[j] - most) / sum;
  __syncthreads();
  weighted_sum<N>(args.values, first, count, at.dweight, at.parts,
                  [&](int column, float total) { to[column] = from_float<T>(total); });
}

/// Calls give(column, gradient of the state of row r through its scores).
template <int N, class T, class Give>
__device__ void feeding_attention_gradient(const FeedingBlock<T, N>& block, const InputFeedingGradientArgs<Cuda<T>>& args,
                                           int i, Index r, const Give& give) {
  const InputFeedingArgs<Cuda<T>>& f = args.forward;
  const int width = static_cast<int>(f.width()), value = static_cast<int>(f.values.cols), count = block.keys[i];
  const Index first = block.first_key[i];
  const auto scale = static_cast<float>(f.scale);
  const FeedingAttention at(block.sums, width, value, block.walk.source_longest);
  __syncthreads();  // the buffers have been read
  load_state<N>(at.state, row_of(f.seen, r), width);
  load_state<N>(at.dcontext, row_of(args.dcontext, r), value);
  __syncthreads();
  const float lse = f.lse[r];
  for (int j = block.warp; j < count; j += kFeedingWarps) {
    const float score = dot<N>(row_of(f.keys, first + j), at.state, width, block.lane);
    const float dweight = dot<N>(row_of(f.values, first + j), at.dcontext, value, block.lane);
    if (block.lane != 0) continue;
    at.weight[j] = expf(score * scale - lse);
    at.dweight[j] = dweight;
  }
  __syncthreads();
  float both = 0;  // every warp computes it
  for (int j = block.lane; j < count; j += 32) both += at.weight[j] * at.dweight[j];
  both = warp_sum(both);
  __syncthreads();
  for (int j = static_cast<int>(threadIdx.x); j < count; j += kFeedingThreads)
    at.weight[j] *= scale * (at.dweight[j] - both);
  __syncthreads();
  weighted_sum<N>(f.keys, first, count, at.weight, at.parts, give);
}

}  // namespace attn::kernels
