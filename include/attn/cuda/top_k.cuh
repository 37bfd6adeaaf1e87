#pragma once
#include <cfloat>

#include "attn/cuda/cross_entropy.cuh"
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/decoding.hpp"

namespace attn {
namespace kernels {

/// Sort key of a choice: larger logits first, then lower classes. 0 is no choice: NaN.
__device__ inline unsigned long long choice_of(float logit, int place) {
  if (logit != logit) return 0;
  const unsigned bits = __float_as_uint(logit + 0.f);  // -0 becomes 0
  const unsigned ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return (static_cast<unsigned long long>(ordered) << 32) | (0xffffffffU - static_cast<unsigned>(place));
}
__device__ inline int place_of(unsigned long long choice) {
  return static_cast<int>(0xffffffffU - static_cast<unsigned>(choice));
}
__device__ inline float logit_of(unsigned long long choice) {
  const auto ordered = static_cast<unsigned>(choice >> 32);
  return __uint_as_float((ordered >> 31) != 0 ? ordered & 0x7fffffffU : ~ordered);
}

__device__ inline unsigned long long best_of_warp(unsigned long long choice) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffU, choice, distance);
    if (other > choice) choice = other;
  }
  return choice;
}

/// One block per row. One pass finds maximum and sum, the next one each thread's best choice. Then the block takes the best
/// of all threads k times; the thread that had it finds the next best among its own columns.
template <int N, class T>
__global__ void __launch_bounds__(1024) top_k(TopKArgs<Cuda<T>> args) {
  __shared__ unsigned long long bests[33];
  const Index i = blockIdx.x;
  const T* row = row_of(args.logits, i);
  const int classes = static_cast<int>(args.logits.cols), k = static_cast<int>(args.best.cols);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = lane_of_warp();
  wait_for_earlier();
  let_next_begin();
  const auto excepted = [&](int place) {
    for (Index e = 0; e < args.excepted; ++e)
      if (args.except[e] == place) return true;
    return false;
  };
  // This thread's best choice that is worse than `than`.
  const auto best_below = [&](unsigned long long than) {
    unsigned long long best = 0;
    for (int j = static_cast<int>(threadIdx.x) * N; j < classes; j += 1024 * N) {
      const Pack<T, N> x = load_pack<N>(row + j);
#pragma unroll
      for (int n = 0; n < N; ++n) {
        const unsigned long long choice = choice_of(x[n], j + n);
        if (choice > best && choice < than && !excepted(j + n)) best = choice;
      }
    }
    return best;
  };

  float most = -FLT_MAX, sum = 0;
  for (int j = static_cast<int>(threadIdx.x) * N; j < classes; j += 1024 * N) {
    const Pack<T, N> pack = load_pack<N>(row + j);
    float x[N], top = -FLT_MAX;
#pragma unroll
    for (int n = 0; n < N; ++n) {
      x[n] = args.renormalize && excepted(j + n) ? -INFINITY : pack[n];
      top = fmaxf(top, x[n]);
    }
    if (top > most) {
      sum *= expf(most - top);
      most = top;
    }
#pragma unroll
    for (int n = 0; n < N; ++n) sum += expf(x[n] - most);
  }
  const float peak = block_max<32>(most);
  sum = block_sum<32>(sum * expf(most - peak));
  const float log_sum = logf(sum);
  const auto write = [&](int j, unsigned long long choice) {
    const float logit = choice == 0 ? -INFINITY : logit_of(choice);
    row_of(args.best, i)[j] = choice == 0 ? -1 : place_of(choice);
    row_of(args.log_probabilities, i)[j] = logit == -INFINITY ? -INFINITY : logit - peak - log_sum;
  };
  const int only = args.only == nullptr ? -1 : args.only[i];
  if (only >= 0) {
    for (int j = static_cast<int>(threadIdx.x); j < k; j += 1024) {
      const float logit = j == 0 ? to_float(row[only]) : -INFINITY;
      row_of(args.best, i)[j] = j == 0 ? only : -1;
      row_of(args.log_probabilities, i)[j] = logit == -INFINITY ? -INFINITY : logit - peak - log_sum;
    }
    return;
  }
  unsigned long long mine = best_below(~0ULL);
  for (int j = 0; j < k; ++j) {
    const unsigned long long of_warp = best_of_warp(mine);
    if (lane == 0) bests[warp] = of_warp;
    __syncthreads();
    if (warp == 0) {
      const unsigned long long of_all = best_of_warp(bests[lane]);
      if (lane == 0) bests[32] = of_all, write(j, of_all);
    }
    __syncthreads();
    const unsigned long long taken = bests[32];
    if (taken != 0 && mine == taken) mine = best_below(taken);
  }
}

}  // namespace kernels

template <class T>
void top_k(Cuda<T>& device, const TopKArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.logits), [&]<int N>() {
    launch_overlapping(device, "top_k", {{static_cast<unsigned>(args.logits.rows)}, 1024}, kernels::top_k<N, T>, args);
  });
}

}  // namespace attn
