#pragma once
#include <cfloat>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/decoding.hpp"

// The choice of tokens in decoding.

namespace attn {
namespace kernels {

/// One block per row: finds the maximum, then the first column that has it.
template <int N, class T>
__global__ void __launch_bounds__(1024) argmax(ArgmaxArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  constexpr unsigned kNowhere = 0xffffffffU, kAllLanes = 0xffffffffU;
  const T* row = row_of(args.logits, blockIdx.x);
  float most = -INFINITY;
  unsigned place = kNowhere;
#pragma unroll 4
  for (int j = static_cast<int>(threadIdx.x) * N; j < args.logits.cols; j += 1024 * N) {
    const Pack<T, N> numbers = load_pack<N>(row + j);
    for (int k = 0; k < N; ++k)
      if (numbers[k] > most && j + k != args.except) most = numbers[k], place = static_cast<unsigned>(j + k);
  }
  if (most != block_max<32>(most)) place = kNowhere;
  __shared__ unsigned places[32];
  place = __reduce_min_sync(kAllLanes, place);
  if (threadIdx.x % 32 == 0) places[threadIdx.x / 32] = place;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  place = __reduce_min_sync(kAllLanes, places[threadIdx.x]);
  if (place == kNowhere) place = args.except == 0 && args.logits.cols > 1 ? 1 : 0;  // all -inf or NaN
  if (threadIdx.x == 0) args.best[blockIdx.x] = static_cast<Token>(place);
}

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
    for (int n = 0; n < N; ++n) sum += expf(x[n] - most);
  }
  const float peak = block_max<32>(most);
  sum = block_sum<32>(sum * expf(most - peak));
  const float log_sum = logf(sum);
  const auto write = [&](int j, int place, float logit) {
    row_of(args.best, i)[j] = place;
    row_of(args.log_probabilities, i)[j] = logit == -INFINITY ? -INFINITY : logit - peak - log_sum;
  };
  const int only = args.only == nullptr ? -1 : args.only[i];
  if (only >= 0) {
    for (int j = static_cast<int>(threadIdx.x); j < k; j += 1024)
      write(j, j == 0 ? only : -1, j == 0 ? to_float(row[only]) : -INFINITY);
    return;
  }
  unsigned long long mine = best_below(~0ULL);
  for (int j = 0; j < k; ++j) {
    const unsigned long long of_warp = best_of_warp(mine);
    if (lane == 0) bests[warp] = of_warp;
    __syncthreads();
    if (warp == 0) {
      const unsigned long long of_all = best_of_warp(bests[lane]);
      if (lane == 0) {
        bests[32] = of_all;
        write(j, of_all == 0 ? -1 : place_of(of_all), of_all == 0 ? -INFINITY : logit_of(of_all));
      }
    }
    __syncthreads();
    const unsigned long long taken = bests[32];
    if (taken != 0 && mine == taken) mine = best_below(taken);
  }
}

inline constexpr int kGreedyThreads = 1024;

/// One block, whose threads share the step and the count of sentences left.
template <class T>
__global__ void __launch_bounds__(kGreedyThreads) greedy_step(GreedyStepArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  __shared__ int left;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) left = 0;
  __syncthreads();
  Token* const written = args.written + Index{*args.step} * args.rows;
  for (Index i = thread; i < args.rows; i += kGreedyThreads) {
    const Token word = args.best[i];
    args.tokens[i] = word;
    if (args.ended[i] != 0) continue;
    written[i] = word;
    if (word == args.end)
      args.ended[i] = 1;
    else
      atomicAdd(&left, 1);
  }
  for (Index i = thread; i < args.counter_count; i += kGreedyThreads) ++args.counters[i];
  __syncthreads();  // all have read the step
  if (thread == 0) args.remaining[(*args.step)++] = left;
}

inline constexpr int kBeamThreads = 128, kBeam = static_cast<int>(max_graph_beam), kCandidates = kBeam * (kBeam + 1);

/// One block per sentence. A candidate's rank is the number of better candidates. A thread reorders columns of the table.
template <class T>
__global__ void __launch_bounds__(kBeamThreads) beam_step(BeamStepArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  __shared__ double totals[kCandidates];  // -inf: ended, or no candidate
  __shared__ Token tokens[kCandidates];
  __shared__ int chosen[kBeam];  // candidates
  const int thread = static_cast<int>(threadIdx.x), beam = static_cast<int>(args.beam),
            k = static_cast<int>(args.best.cols);
  const int sentence = static_cast<int>(blockIdx.x), candidates = beam * k;
  const Index first = Index{sentence} * beam, capacity = args.table.cols;
  const Index log = (Index{args.step[sentence]} * args.best.rows + first) * k;
  const Index filled = args.ends[first] - first * capacity;
  if (thread < kBeam) chosen[thread] = -1;
  for (int c = thread; c < candidates; c += kBeamThreads) {
    const Index i = first + c / k;
    const Token token = row_of(args.best, i)[c % k];
    const float log_probability = row_of(args.log_probabilities, i)[c % k];
    const double total = args.totals[i];
    args.logged[log + c] = token;
    args.logged_probabilities[log + c] = log_probability;
    const bool possible = total > -HUGE_VAL && token >= 0 && log_probability > -INFINITY && token != args.end;
    totals[c] = possible ? total + double{log_probability} : -HUGE_VAL;
    tokens[c] = token;
  }
  __syncthreads();
  for (int c = thread; c < candidates; c += kBeamThreads) {
    const double total = totals[c];
    if (total == -HUGE_VAL) continue;
    int place = 0;
    for (int other = 0; other < candidates; ++other)
      place += totals[other] > total || (totals[other] == total && other < c) ? 1 : 0;
    if (place < beam) chosen[place] = c;
  }
  __syncthreads();
  const auto continues = [&](int r) { return first + (chosen[r] < 0 ? r : chosen[r] / k); };
  for (Index t = thread; t < filled; t += kBeamThreads) {
    std::int32_t column[kBeam];
#pragma unroll
    for (int r = 0; r < kBeam; ++r)
      if (r < beam) column[r] = row_of(args.table, continues(r))[t];
#pragma unroll
    for (int r = 0; r < kBeam; ++r)
      if (r < beam) row_of(args.table, first + r)[t] = column[r];
  }
  if (thread < beam) {
    const int c = chosen[thread];
    const Index i = first + thread;
    args.tokens[i] = c < 0 ? 0 : tokens[c];
    args.totals[i] = c < 0 ? -HUGE_VAL : totals[c];
    const std::int32_t newest = ++args.newest[i];
    ++args.ends[i], ++args.positions[i];
    if (filled < capacity) row_of(args.table, i)[filled] = newest;
  }
  if (thread == 0) ++args.step[sentence];
}

}  // namespace kernels

template <class T>
void argmax(Cuda<T>& device, const ArgmaxArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.logits), [&]<int N>() {
    launch_overlapping(device, "argmax", {{static_cast<unsigned>(args.logits.rows)}, 1024}, kernels::argmax<N, T>, args);
  });
}

template <class T>
void top_k(Cuda<T>& device, const TopKArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.logits), [&]<int N>() {
    launch_overlapping(device, "top_k", {{static_cast<unsigned>(args.logits.rows)}, 1024}, kernels::top_k<N, T>, args);
  });
}

template <class T>
void greedy_step(Cuda<T>& device, const GreedyStepArgs<Cuda<T>>& args) {
  launch_overlapping(device, "greedy_step", {{1}, kernels::kGreedyThreads}, kernels::greedy_step<T>, args);
}

template <class T>
void beam_step(Cuda<T>& device, const BeamStepArgs<Cuda<T>>& args) {
  check_beam_step(args);
  launch_overlapping(device, "beam_step", {{static_cast<unsigned>(args.best.rows / args.beam)}, kernels::kBeamThreads},
                     kernels::beam_step<T>, args);
}

template <class T>
void linear_argmax(Cuda<T>& device, const LinearArgmaxArgs<Cuda<T>>& args) {
  linear(device, {.x = args.x, .weight = args.weight, .bias = args.bias, .y = args.logits});
  argmax(device, {.logits = args.logits, .best = args.best, .except = args.except});
}

}  // namespace attn
