#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/ops/decoding.hpp"

namespace attn {
namespace kernels {

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

}  // namespace kernels

template <class T>
void greedy_step(Cuda<T>& device, const GreedyStepArgs<Cuda<T>>& args) {
  launch_overlapping(device, "greedy_step", {{1}, kernels::kGreedyThreads}, kernels::greedy_step<T>, args);
}

}  // namespace attn
