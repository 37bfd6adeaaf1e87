#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/decoding.hpp"

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
#pragma unroll
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

}  // namespace kernels

template <class T>
void argmax(Cuda<T>& device, const ArgmaxArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.logits), [&]<int N>() {
    launch_overlapping(device, "argmax", {{static_cast<unsigned>(args.logits.rows)}, 1024}, kernels::argmax<N, T>, args);
  });
}

}  // namespace attn
