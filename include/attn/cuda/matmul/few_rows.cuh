#pragma once
#include "attn/cuda/layer_norm.cuh"
#include "attn/cuda/support/mma.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/linear.hpp"

// y = x Wᵀ + b of few rows in bfloat16, as in a decoder step. A block computes 16 outputs of up to 16 rows, or 32 of 32 if
// there are enough of them, so that weights and x are read half as often. Its warps split the terms, 32 at a time, and
// multiply weights of 16 outputs by 8 rows of x at once on tensor cores. The order of the 32 terms does not matter as long
// as weights and x agree, so a lane reads 8 adjacent terms, straight into registers. While the kernel waits for x, it
// prefetches weights. The warps' sums are added in shared memory, in order.
//
// If x is a held-back layer norm of up to 8 rows of up to 512 columns, every block normalises the rows itself, which saves
// a kernel between two products; the first block also writes the rows.

namespace attn {
namespace kernels {

inline constexpr int kFewWarps = 8, kFewThreads = 32 * kFewWarps, kFewOutputs = 16, kFewTerms = 32, kMostNormalised = 512;

/// Tiles, Eights: tiles of 16 outputs and of 8 rows per block. Ahead: chunks of 32 terms of weights that a warp holds at
/// once. Normalise: x is the output of `norm`, up to 8 rows, and a warp holds all its weights at once.
template <int Tiles, int Eights, int Ahead, bool Normalise>
__global__ void __launch_bounds__(kFewThreads)
    linear_of_few_rows(const LinearArgs<Cuda<bfloat16>> args, const LayerNormArgs<Cuda<bfloat16>> norm) {
  constexpr int kOutputs = Tiles * kFewOutputs;
  __shared__ float parts[kFewWarps][8 * Eights][kOutputs + 1];
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32;
  const int chunks = static_cast<int>(args.x.cols) / kFewTerms, outputs = static_cast<int>(args.weight.rows),
            first = static_cast<int>(blockIdx.x) * kOutputs, first_row = static_cast<int>(blockIdx.y) * 8 * Eights,
            rows = min(static_cast<int>(args.x.rows) - first_row, 8 * Eights);
  const int place = lane / 4, terms = lane % 4 * 8;  // this lane's row of 8, and its terms of 32
  const bfloat16* rows_of_weights[2 * Tiles];        // two per tile
  unrolled<2 * Tiles>(
      [&](int i) { rows_of_weights[i] = row_of(args.weight, min(first + 8 * i + place, outputs - 1)) + terms; });
  const auto eight_terms = [](const bfloat16* row, int chunk) {
    return *reinterpret_cast<const uint4*>(row + chunk * kFewTerms);
  };
  const bfloat16* inputs[Eights];
  uint4 weights[Ahead][2 * Tiles], x[Ahead][Eights];
  const auto load_weights = [&](int begin) {
    unrolled<Ahead, 2 * Tiles>(
        [&](int i, int t) { weights[i][t] = eight_terms(rows_of_weights[t], min(begin + i * kFewWarps, chunks - 1)); });
  };

  struct Nothing {
    __device__ explicit Nothing(const LayerNormArgs<Cuda<bfloat16>>&) {}
  };
  const std::conditional_t<Normalise, NormWeights<kMostNormalised / 256, bfloat16>, Nothing> norm_weights(norm);
  if constexpr (Normalise) {
    load_weights(warp);
  } else {
    for (int chunk = warp; chunk < chunks; chunk += kFewWarps)
      unrolled<2 * Tiles>([&](int t) { prefetch(rows_of_weights[t] + chunk * kFewTerms); });
  }
  wait_for_earlier();
  let_next_begin();
  if constexpr (Normalise) {
    // The padding of the rows avoids bank conflicts.
    __shared__ alignas(16) bfloat16 normalised[8][kMostNormalised + 32];
    if (warp < rows)
      normalise_row<kMostNormalised / 256, false>(
          norm, [&] { return norm_weights; }, warp, blockIdx.x == 0,
          [&](int j, Pack<bfloat16> y) {
            store_pack(&normalised[warp][j], y);
            if (blockIdx.x == 0) store_pack(row_of(norm.y, warp) + j, y);
          });
    __syncthreads();
    inputs[0] = normalised[min(place, rows - 1)] + terms;
  } else {
    unrolled<Eights>([&](int e) { inputs[e] = row_of(args.x, first_row + min(8 * e + place, rows - 1)) + terms; });
  }

  float sums[Tiles][Eights][4] = {};
  for (int begin = warp; begin < chunks; begin += kFewWarps * Ahead) {
    if constexpr (!Normalise) load_weights(begin);  // loads in flight together
    unrolled<Ahead, Eights>(
        [&](int i, int e) { x[i][e] = eight_terms(inputs[e], min(begin + i * kFewWarps, chunks - 1)); });
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      if (begin + i * kFewWarps >= chunks) break;
      unrolled<Tiles>([&](int t) {
        const uint4 a = weights[i][2 * t], b = weights[i][2 * t + 1];
        unrolled<Eights>([&](int e) {
          mma(sums[t][e], a.x, b.x, a.y, b.y, x[i][e].x, x[i][e].y);
          mma(sums[t][e], a.z, b.z, a.w, b.w, x[i][e].z, x[i][e].w);
        });
      });
    }
  }

  // A lane's sums are those of outputs `place` and `place` + 8 with two rows of x.
  const int row = lane % 4 * 2;
  unrolled<Tiles, Eights>([&](int t, int e) {
    unrolled<4>([&](int i) { parts[warp][8 * e + row + i % 2][kFewOutputs * t + place + i / 2 * 8] = sums[t][e][i]; });
  });
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < rows * kOutputs; i += kFewThreads) {
    const int r = i / kOutputs, output = i % kOutputs;
    if (first + output >= outputs) continue;
    float y = args.bias != nullptr ? to_float(args.bias[first + output]) : 0;
    unrolled<kFewWarps>([&](int w) { y += parts[w][r][output]; });
    row_of(args.y, first_row + r)[first + output] = from_float<bfloat16>(args.relu ? fmaxf(y, 0) : y);
  }
}

}  // namespace kernels

/// Whether to use the kernel above. Each of its blocks reads all terms of its rows, so cuBLASLt suits many outputs of many
/// rows.
inline bool of_few_rows(const Cuda<bfloat16>& device, const LinearArgs<Cuda<bfloat16>>& args) {
  const Index rows = args.x.rows, blocks = divide_up(args.weight.rows, kernels::kFewOutputs);
  const Index most = device.has_clusters() ? 64 : 8;  // without overlapping launches, cuBLASLt is faster above this
  return rows > 0 && rows <= most && args.x.cols > 0 && args.x.cols % kernels::kFewTerms == 0 &&
         in_packs(args.x, args.weight) && (rows <= 8 || blocks <= 2 * device.multiprocessors());
}

/// The held-back layer norm if x is its output, else null.
template <class T>
const LayerNormArgs<Cuda<T>>* norm_that_gives(const Cuda<T>& device, const Matrix<const T>& x) {
  const auto* norm = device.deferred(run_layer_norm<T>);
  return norm != nullptr && norm->y.data == x.data && norm->y.rows == x.rows && norm->y.cols == x.cols &&
                 norm->y.stride == x.stride
             ? norm
             : nullptr;
}

/// For bfloat16. A template, so that only programs that call it compile its kernels, as lstm_cell_of_few.
template <class T>
void linear_of_few_rows(Cuda<T>& device, const LinearArgs<Cuda<T>>& args) {
  const Index blocks = divide_up(args.weight.rows, kernels::kFewOutputs);
  const auto start = [&]<int Tiles, int Eights, int Ahead, bool Normalise = false>(
      const LayerNormArgs<Cuda<T>>& norm = {}) {
    const Spread spread{{static_cast<unsigned>(divide_up(args.weight.rows, Tiles * kernels::kFewOutputs)),
                         static_cast<unsigned>(divide_up(args.x.rows, 8 * Eights))},
                        kernels::kFewThreads};
    launch_overlapping(device, "linear", spread, kernels::linear_of_few_rows<Tiles, Eights, Ahead, Normalise>, args, norm);
  };
  const bool short_rows = args.x.cols <= Index{2} * kernels::kFewWarps * kernels::kFewTerms;
  if (args.x.rows > 16 && short_rows && blocks * divide_up(args.x.rows, 16) > 2 * device.multiprocessors())
    return start.template operator()<2, 4, 2>();
  if (args.x.rows > 8) return short_rows ? start.template operator()<1, 2, 2>() : start.template operator()<1, 2, 8>();
  const auto* found = blocks <= 2 * device.multiprocessors() ? norm_that_gives(device, args.x) : nullptr;
  if (found == nullptr) return short_rows ? start.template operator()<1, 1, 2>() : start.template operator()<1, 1, 8>();
  const LayerNormArgs<Cuda<T>> norm = *found;
  device.drop_deferred();
  start.template operator()<1, 1, 2, true>(norm);
}

}  // namespace attn
