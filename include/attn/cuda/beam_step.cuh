#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/decoding.hpp"

namespace attn {
namespace kernels {

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
void beam_step(Cuda<T>& device, const BeamStepArgs<Cuda<T>>& args) {
  check_beam_step(args);
  launch_overlapping(device, "beam_step", {{static_cast<unsigned>(args.best.rows / args.beam)}, kernels::kBeamThreads},
                     kernels::beam_step<T>, args);
}

}  // namespace attn
