#pragma once
#include "attn/cuda/attention/rows.cuh"
#include "attn/cuda/support/overlap.cuh"

// Attention of one query a sentence with heads of up to 128 columns: a step of a decoder. A block takes a head of a sentence: one warp
// where there are many heads, else four, which share the keys out. Groups of eight lanes take every 4th or 16th key each, several at
// once, score it, and add its value to a sum of their own. Each group keeps the largest score so far, by which its weights are measured (softmax in one pass); in the end groups
// and warps meet, always in the same order.

namespace attn {
namespace kernels {

/// What some keys have come to: the sum of exp(score - most), and of these times the values, eight columns of 64 a lane.
template <int Slices>
struct StepSums {
  float most = -INFINITY, sum = 0, y[Slices][8] = {};

  /// By what a sum is multiplied whose largest score was `before`.
  static __device__ float factor(float before, float now) { return before == now ? 1 : expf(before - now); }

  /// Both of two lanes get the sum of their keys.
  __device__ void meet(int other_lane) {
    const auto other = [&](float x) { return __shfl_xor_sync(0xffffffffU, x, other_lane); };
    const float now = fmaxf(most, other(most)), mine = factor(most, now);
    sum *= mine;
    sum += other(sum);
#pragma unroll
    for (auto& slice : y)
#pragma unroll
      for (float& number : slice) {
        number *= mine;
        number += other(number);
      }
    most = now;
  }
};

/// Slices: of 64 columns, in a head. 32 warps at a time on a multiprocessor, where 64 registers are enough for it. Listed:
/// whether a list says where the keys are.
template <int Warps, int Slices, int N, bool Listed, class T>
__global__ void __launch_bounds__(32 * Warps, (Slices == 1 && N == 8 ? 32 : 16) / Warps)
    step_attention(const AttentionArgs<Cuda<T>> args, const AttentionBlocks blocks) {
  constexpr int kGroups = Warps * kRowsAtOnce, kAtOnce = 4 / Slices;  // groups of a block, and keys of a group at once
  wait_for_earlier();
  let_next_begin();
  const AttentionTask<T> task(args, blocks);
  if (task.queries == 0) return;
  const int warp = static_cast<int>(threadIdx.x) / 32, group = static_cast<int>(threadIdx.x) / 8;
  const auto scale = static_cast<float>(args.scale);
  float q[Slices][8];
#pragma unroll
  for (int s = 0; s < Slices; ++s) {
    load_eight<N>(q[s], task.query(args.q, 0), column_of_lane() + 64 * s, task.width);
#pragma unroll
    for (float& number : q[s]) number *= scale;
  }

  StepSums<Slices> mine;
  for (int first = 0; first < task.keys; first += kGroups * kAtOnce) {
    float k[kAtOnce][Slices][8], v[kAtOnce][Slices][8], score[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      int j = min(first + i * kGroups + group, task.keys - 1);
      if constexpr (Listed) j = args.keys.listed[task.first_key + j] - task.first_key;
#pragma unroll
      for (int s = 0; s < Slices; ++s) {
        const int column = column_of_lane() + 64 * s;
        load_eight<N>(k[i][s], task.key(args.k, j), column, task.width);
        load_eight<N>(v[i][s], task.key_values(args.v, j), column, task.value_width);
      }
    }
    float now = mine.most;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      score[i] = 0;
#pragma unroll
      for (int s = 0; s < Slices; ++s)
#pragma unroll
        for (int c = 0; c < 8; ++c) score[i] += q[s][c] * k[i][s][c];
      score[i] = sum_of_row(score[i]);
      if (first + i * kGroups + group >= task.keys) score[i] = -INFINITY;
      now = fmaxf(now, score[i]);
    }
    const float before = mine.factor(mine.most, now);
    mine.sum *= before;
#pragma unroll
    for (auto& slice : mine.y)
#pragma unroll
      for (float& number : slice) number *= before;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool seen = first + i * kGroups + group < task.keys;
      const float weight = seen ? expf(score[i] - now) : 0;
      mine.sum += weight;
#pragma unroll
      for (int s = 0; s < Slices; ++s)
#pragma unroll
        for (int c = 0; c < 8; ++c) mine.y[s][c] += weight * v[i][s][c];
    }
    mine.most = now;
  }
  mine.meet(8);
  mine.meet(16);

  __shared__ float sums[Warps][2], ys[Warps][Slices * 64];
  if (row_of_lane() == 0) {
    if (column_of_lane() == 0) sums[warp][0] = mine.most, sums[warp][1] = mine.sum;
#pragma unroll
    for (int s = 0; s < Slices; ++s)
#pragma unroll
      for (int c = 0; c < 8; ++c) ys[warp][64 * s + column_of_lane() + c] = mine.y[s][c];
  }
  __syncthreads();
  float most = sums[0][0], sum = 0, factors[Warps];
#pragma unroll
  for (int w = 1; w < Warps; ++w) most = fmaxf(most, sums[w][0]);
#pragma unroll
  for (int w = 0; w < Warps; ++w) {
    factors[w] = mine.factor(sums[w][0], most);
    sum += factors[w] * sums[w][1];
  }
  if (threadIdx.x == 0) args.lse[task.statistic(0, args.heads)] = most + logf(sum);
  const int column = static_cast<int>(threadIdx.x) * 8;
  if (column >= task.value_width) return;
  float y[8] = {};
#pragma unroll
  for (int w = 0; w < Warps; ++w)
#pragma unroll
    for (int c = 0; c < 8; ++c) y[c] += factors[w] * ys[w][column + c];
#pragma unroll
  for (float& number : y) number = sum == 0 ? 0 : number / sum;
  put_eight<N>(task.query_values(args.y, 0), column, task.value_width, y, false);
}

}  // namespace kernels

template <class T>
void step_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const kernels::AttentionBlocks blocks(args, args.queries, 1);
  const auto fits = [&](const auto&... m) { return in_packs(m...) && ((m.cols / args.heads % Pack<T>::size == 0) && ...); };
  const bool narrow = std::max(args.q.cols, args.v.cols) <= 64 * args.heads;
  with_packs<T>(fits(args.q, args.k, args.v, args.y), [&]<int N>() {
    const auto run = [&]<int Warps, bool Listed>() {
      launch_overlapping(
          device, "attention of a step", Spread{{blocks.all}, 32 * Warps},
          narrow ? kernels::step_attention<Warps, 1, N, Listed, T> : kernels::step_attention<Warps, 2, N, Listed, T>, args,
          blocks);
    };
    const bool listed = args.keys.listed != nullptr;
    if (blocks.all > 8U * static_cast<unsigned>(device.multiprocessors()))  // enough of them to hide each other's waiting
      listed ? run.template operator()<1, true>() : run.template operator()<1, false>();
    else
      listed ? run.template operator()<4, true>() : run.template operator()<4, false>();
  });
}

}  // namespace attn
