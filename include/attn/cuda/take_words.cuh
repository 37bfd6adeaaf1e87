#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/ops/take_words.hpp"

namespace attn {
namespace kernels {

inline constexpr int kTakeThreads = 1024;

/// One block: its threads share the step and what is left.
template <class T>
__global__ void __launch_bounds__(kTakeThreads) take_words(TakeWordsArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  __shared__ int left;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) left = 0;
  __syncthreads();
  Token* const written = args.written + Index{*args.step} * args.rows;
  for (Index i = thread; i < args.rows; i += kTakeThreads) {
    const Token word = args.best[i];
    args.words[i] = word;
    if (args.ended[i] != 0) continue;
    written[i] = word;
    if (word == args.end)
      args.ended[i] = 1;
    else
      atomicAdd(&left, 1);
  }
  for (Index i = thread; i < args.counter_count; i += kTakeThreads) ++args.counters[i];
  __syncthreads();  // all have read the step
  if (thread == 0) args.remaining[(*args.step)++] = left;
}

}  // namespace kernels

template <class T>
void take_words(Cuda<T>& device, const TakeWordsArgs<Cuda<T>>& args) {
  launch_overlapping(device, "take_words", {{1}, kernels::kTakeThreads}, kernels::take_words<T>, args);
}

}  // namespace attn
