#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/layer_norm.hpp"

// cuda/layer_norm.cuh lists which kernel handles which rows.

namespace attn::kernels {

/// Calls step(p, j) for each pack of this lane: pack p begins at column j.
template <int P, int N, class Step>
__device__ void each_pack(int width, const Step& step) {
  unrolled<P>([&](int p) {
    const int j = (32 * p + lane_of_warp()) * N;
    if (j < width) step(p, j);
  });
}

/// A lane's part of gain and bias.
template <int P, class T>
struct NormWeights {
  Pack<T> gain[P], bias[P] = {};

  __device__ explicit NormWeights(const LayerNormArgs<Cuda<T>>& args) {
    each_pack<P, Pack<T>::size>(static_cast<int>(args.x.cols), [&](int p, int j) {
      gain[p] = load_pack(args.gain + j);
      if (args.center) bias[p] = load_pack(args.bias + j);
    });
  }
};

/// Warp-level: normalises row i and calls put(j, y) for each pack of y, which begins at column j. `statistics`: whether to
/// store them. Training: supports dropout and storing z. get_weights() returns the lane's weights, loaded now or earlier.
template <int P, bool Training, class T, class Weights, class Put>
__device__ void normalise_row(const LayerNormArgs<Cuda<T>>& args, const Weights& get_weights, Index i, bool statistics,
                              const Put& put) {
  constexpr int N = Pack<T>::size;
  const int width = static_cast<int>(args.x.cols);
  Pack<T> z[P];
  each_pack<P, N>(width, [&](int p, int j) { z[p] = load_pack(row_of(args.x, i) + j); });
  if (args.branch.data != nullptr) {
    Pack<T> branch[P];
    each_pack<P, N>(width, [&](int p, int j) { branch[p] = load_pack(row_of(args.branch, i) + j); });
    if constexpr (Training) {
      const Dropout::Row row = args.dropout.row(i);
      each_pack<P, N>(width, [&](int p, int j) {
        const Factors<N> factors(row, j);
        unrolled<N>([&](int k) { z[p].set(k, z[p][k] + factors[k] * branch[p][k]); });
        if (args.z.data != nullptr) store_pack(row_of(args.z, i) + j, z[p]);
      });
    } else {
      each_pack<P, N>(width, [&](int p, int) { unrolled<N>([&](int k) { z[p].set(k, z[p][k] + branch[p][k]); }); });
    }
  }
  const NormWeights<P, T> weights = get_weights();  // these loads overlap the reductions
  float sum = 0, squares = 0;
  each_pack<P, N>(width, [&](int p, int) { unrolled<N>([&](int k) { sum += z[p][k]; }); });
  const float mean = args.center ? warp_sum(sum) / static_cast<float>(width) : 0;
  each_pack<P, N>(width, [&](int p, int) { unrolled<N>([&](int k) { squares += (z[p][k] - mean) * (z[p][k] - mean); }); });
  const float inverse = 1 / sqrtf(warp_sum(squares) / static_cast<float>(width) + args.epsilon);
  each_pack<P, N>(width, [&](int p, int j) {
    Pack<T> y;
    unrolled<N>([&](int k) { y.set(k, (z[p][k] - mean) * inverse * weights.gain[p][k] + weights.bias[p][k]); });
    put(j, y);
  });
  if (!statistics || lane_of_warp() > 0) return;
  args.mean[i] = mean;
  args.inverse_deviation[i] = inverse;
}

/// Early: load gain and bias while the kernel waits for the rows. This takes registers, which many rows need for occupancy.
template <int P, bool Early, class T>
__global__ void __launch_bounds__(32 * kRowWarps) layer_norm(LayerNormArgs<Cuda<T>> args) {
  const auto normalise = [&](const auto& get_weights) {
    wait_for_earlier();
    let_next_begin();
    const Index i = row_of_warp();
    if (i >= args.x.rows) return;
    normalise_row<P, true>(args, get_weights, i, true, [&](int j, Pack<T> y) { store_pack(row_of(args.y, i) + j, y); });
  };
  if constexpr (Early)
    normalise([weights = NormWeights<P, T>(args)] { return weights; });
  else
    normalise([&] { return NormWeights<P, T>(args); });
}

template <class T>
__global__ void __launch_bounds__(32 * kRowWarps) layer_norm_any(LayerNormArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.x.rows) return;
  const int width = static_cast<int>(args.x.cols), lane = lane_of_warp();
  const Dropout::Row row = args.dropout.row(i);
  const auto stored_z = [&](int j) {
    const T x = row_of(args.x, i)[j];
    if (args.branch.data == nullptr) return x;
    return from_float<T>(to_float(x) + Factors<1>(row, j)[0] * to_float(row_of(args.branch, i)[j]));
  };
  float sum = 0, squares = 0;
  for (int j = lane; j < width; j += 32) {
    const T z = stored_z(j);
    if (args.branch.data != nullptr && args.z.data != nullptr) row_of(args.z, i)[j] = z;
    sum += to_float(z);
  }
  const float mean = args.center ? warp_sum(sum) / static_cast<float>(width) : 0;
  for (int j = lane; j < width; j += 32) {
    const float away = to_float(stored_z(j)) - mean;
    squares += away * away;
  }
  const float inverse = 1 / sqrtf(warp_sum(squares) / static_cast<float>(width) + args.epsilon);
  for (int j = lane; j < width; j += 32)
    row_of(args.y, i)[j] = from_float<T>((to_float(stored_z(j)) - mean) * inverse * to_float(args.gain[j]) +
                                         (args.center ? to_float(args.bias[j]) : 0));
  if (lane > 0) return;
  args.mean[i] = mean;
  args.inverse_deviation[i] = inverse;
}

// g is rounded wherever it is computed (__fmul_rn: no fused multiply-add), so that it cancels its mean in a row of one.
// dz = (g - mean(g) - x̂ mean(g x̂)) / deviation,  g = dy * gain,  x̂ = (z - mean) / deviation;  dgain += dy * x̂,  dbias += dy

/// parts: blocks x 2 x width, the sums over a block's rows for gain and for bias.
template <int P, class T>
__global__ void __launch_bounds__(32 * kRowWarps) layer_norm_gradient(LayerNormGradientArgs<Cuda<T>> args, float* parts) {
  constexpr int N = Pack<T>::size, kNumbers = 2 * P * N;  // per lane: for gain, then for bias
  const int width = static_cast<int>(args.z.cols), lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32;
  const Index step = Index{gridDim.x} * kRowWarps;
  struct Row {
    Pack<T> z[P], dy[P];
    float mean, inverse;
  };
  const auto load = [&](Row& row, Index i) {
    each_pack<P, N>(width, [&](int p, int j) {
      row.z[p] = load_pack(row_of(args.z, i) + j);
      row.dy[p] = load_pack(row_of(args.dy, i) + j);
    });
    row.mean = args.mean[i];
    row.inverse = args.inverse_deviation[i];
  };

  float sums[kNumbers] = {};
  constexpr bool kAhead = P < 8;  // prefetches the next row; of the widest rows only one fits
  Row row, next;
  Index i = row_of_warp();
  if (kAhead && i < args.z.rows) load(row, i);
  for (; i < args.z.rows; i += step) {
    if constexpr (!kAhead) load(row, i);
    if (kAhead && i + step < args.z.rows) load(next, i + step);
    float mean = 0, slope = 0;
    each_pack<P, N>(width, [&](int p, int j) {
      const Pack<T> gain = load_pack(args.gain + j);
      unrolled<N>([&](int k) {
        const float normal = (row.z[p][k] - row.mean) * row.inverse, g = __fmul_rn(row.dy[p][k], gain[k]);
        mean += g;
        slope += g * normal;
        sums[p * N + k] += row.dy[p][k] * normal;
        sums[(P + p) * N + k] += row.dy[p][k];
      });
    });
    mean = args.center ? warp_sum(mean) / static_cast<float>(width) : 0;
    slope = warp_sum(slope) / static_cast<float>(width);
    const Dropout::Row dropout = args.dropout.row(i);
    each_pack<P, N>(width, [&](int p, int j) {
      const Pack<T> gain = load_pack(args.gain + j);
      float dz[N];
      unrolled<N>([&](int k) {
        dz[k] = (__fmul_rn(row.dy[p][k], gain[k]) - mean - (row.z[p][k] - row.mean) * row.inverse * slope) * row.inverse;
      });
      put(args.dx, i, j, dz);
      if (args.dbranch.to.data == nullptr) return;
      const Factors<N> factors(dropout, j);
      unrolled<N>([&](int k) { dz[k] *= factors[k]; });
      put(args.dbranch, i, j, dz);
    });
    if constexpr (kAhead) row = next;
  }

  // Tree reduction over the warps, in a fixed order. Lanes are adjacent in shared memory.
  constexpr int kShared = P == 8 ? 1 : kRowWarps / 2;  // warps that fit in shared memory
  __shared__ float shared[kShared][kNumbers][32];
  for (int half = kRowWarps / 2; half > 0; half /= 2)
    for (int first = 0; first < half; first += kShared) {
      __syncthreads();
      const int from = warp - half - first, to = warp - first;
      if (from >= 0 && from < kShared && warp < 2 * half)
        unrolled<kNumbers>([&](int k) { shared[from][k][lane] = sums[k]; });
      __syncthreads();
      if (to >= 0 && to < kShared && warp < half) unrolled<kNumbers>([&](int k) { sums[k] += shared[to][k][lane]; });
    }
  if (warp > 0) return;
  float* mine = parts + Index{blockIdx.x} * 2 * width;
  each_pack<P, N>(width, [&](int p, int j) {
    unrolled<N>([&](int k) {
      mine[j + k] = sums[p * N + k];
      mine[width + j + k] = sums[(P + p) * N + k];
    });
  });
}

template <class T>
__global__ void __launch_bounds__(256) layer_norm_gradient_any(LayerNormGradientArgs<Cuda<T>> args, float* parts) {
  const int width = static_cast<int>(args.z.cols);
  float* mine = parts + Index{blockIdx.x} * 2 * width;
  for (Index i = blockIdx.x; i < args.z.rows; i += gridDim.x) {
    const T *z = row_of(args.z, i), *dy = row_of(args.dy, i);
    const bool is_first = i == blockIdx.x;
    const float middle = args.mean[i], inverse = args.inverse_deviation[i];
    float mean = 0, slope = 0;
    for (int j = static_cast<int>(threadIdx.x); j < width; j += 256) {
      const float normal = (to_float(z[j]) - middle) * inverse, d = to_float(dy[j]),
                  g = __fmul_rn(d, to_float(args.gain[j]));
      mean += g;
      slope += g * normal;
      mine[j] = is_first ? d * normal : mine[j] + d * normal;
      mine[width + j] = is_first ? d : mine[width + j] + d;
    }
    mean = args.center ? block_sum<8>(mean) / static_cast<float>(width) : 0;
    slope = block_sum<8>(slope) / static_cast<float>(width);
    const Dropout::Row row = args.dropout.row(i);
    for (int j = static_cast<int>(threadIdx.x); j < width; j += 256) {
      const float normal = (to_float(z[j]) - middle) * inverse, g = __fmul_rn(to_float(dy[j]), to_float(args.gain[j]));
      float dz[1] = {(g - mean - normal * slope) * inverse};
      put(args.dx, i, j, dz);
      if (args.dbranch.to.data == nullptr) continue;
      dz[0] *= Factors<1>(row, j)[0];
      put(args.dbranch, i, j, dz);
    }
  }
}

}  // namespace attn::kernels
