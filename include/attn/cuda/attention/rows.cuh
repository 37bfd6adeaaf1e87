#pragma once
#include "attn/cuda/attention/task.cuh"
#include "attn/cuda/support/rows.cuh"

// Shared by the kernels in which a warp processes one query or one key, which suits small problems. A warp reads four rows
// at once: eight lanes per row, eight of 64 columns per lane. It reads packs of N columns if rows begin on 16-byte
// boundaries and are whole packs long, else N = 1.

namespace attn {
namespace kernels {

inline constexpr int kRowsAtOnce = 4;  // rows per warp

__device__ inline int row_of_lane() { return lane_of_warp() / 8; }
__device__ inline int column_of_lane() { return lane_of_warp() % 8 * 8; }

/// Loads eight columns of a row; those beyond its width are 0.
template <int N, class T>
__device__ void load_eight(float (&x)[8], const T* row, int column, int width) {
#pragma unroll
  for (int i = 0; i < 8; i += N) {
    Pack<T, N> pack{};
    if (column + i < width) pack = load_pack<N>(row + column + i);
    unrolled<N>([&](int k) { x[i + k] = pack[k]; });
  }
}

/// Sets or adds to eight columns of a row, up to its width.
template <int N, class T>
__device__ void put_eight(T* row, int column, int width, const float (&x)[8], bool add) {
#pragma unroll
  for (int i = 0; i < 8; i += N) {
    if (column + i >= width) continue;
    Pack<T, N> pack{};
    if (add) pack = load_pack<N>(row + column + i);
    unrolled<N>([&](int k) { pack.set(k, pack[k] + x[i + k]); });
    store_pack(row + column + i, pack);
  }
}

/// The sum over the four rows.
__device__ inline void sum_of_rows(float (&x)[8]) {
#pragma unroll
  for (float& number : x) {
    number += __shfl_xor_sync(0xffffffffU, number, 8);
    number += __shfl_xor_sync(0xffffffffU, number, 16);
  }
}

/// tanh. In bfloat16 by tanh.approx, whose error is a quarter of the rounding error.
template <class T>
__device__ float squash(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return tanhf(x);
  } else {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
}

/// Warp-level: scores[j] = x · row j, or u · tanh(x + row j) if Additive, for `count` rows.
template <bool Additive, int N, class T>
__device__ void score_rows(float* scores, const T* x, const T* u, const T* rows, Index stride, int count, int width) {
  for (int column = column_of_lane(); column - column_of_lane() < width; column += 64) {
    float mine[8], last[8];
    load_eight<N>(mine, x, column, width);
    if constexpr (Additive) load_eight<N>(last, u, column, width);
    for (int first = 0; first < count; first += kRowsAtOnce) {
      const int j = first + row_of_lane();
      float row[8], sum = 0;
      load_eight<N>(row, rows + row_offset(min(j, count - 1), stride), column, width);
      unrolled<8>([&](int k) {
        if constexpr (Additive)
          sum += last[k] * squash<T>(mine[k] + row[k]);
        else
          sum += mine[k] * row[k];
      });
      sum = warp_sum<8>(sum);
      if (j < count && column_of_lane() == 0) scores[j] = column > 0 ? scores[j] + sum : sum;
    }
  }
  __syncwarp();
}

/// Warp-level: sums weight(j) * row j over `count` rows. The lanes of one row call put(column, sum) for eight columns each.
/// The warp takes 64 columns from `first` on, then every `step` columns.
template <int N, class T, class Weight, class Put>
__device__ void sum_rows(const T* rows, Index stride, int count, int width, const Weight& weight, const Put& put,
                         int first = 0, int step = 64) {
  for (; first < width; first += step) {
    const int column = first + column_of_lane();
    float sum[8] = {};
    constexpr int kAtOnce = 8;
    for (int mine = row_of_lane(); mine < count; mine += kAtOnce * kRowsAtOnce) {
      float row[kAtOnce][8];  // loads in flight together
      unrolled<kAtOnce>([&](int i) {
        load_eight<N>(row[i], rows + row_offset(min(mine + i * kRowsAtOnce, count - 1), stride), column, width);
      });
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int j = mine + i * kRowsAtOnce;
        if (j >= count) break;
        const float w = weight(j);
        unrolled<8>([&](int k) { sum[k] += w * row[i][k]; });
      }
    }
    sum_of_rows(sum);
    if (row_of_lane() == 0) put(column, sum);
  }
}

/// Turns scores into weights: exp(score - most) / sum.
struct Softmax {
  float most = -INFINITY, sum = 0;

  /// Warp-level; every lane must be able to read all `count` scores.
  __device__ Softmax(const float* scores, int count) {
    for (int j = lane_of_warp(); j < count; j += 32) most = fmaxf(most, scores[j]);
    most = warp_max(most);
    for (int j = lane_of_warp(); j < count; j += 32) sum += expf(scores[j] - most);
    sum = warp_sum(sum);
  }
  __device__ float operator()(float score) const { return expf(score - most) / sum; }
  __device__ float log_sum_exp() const { return most + logf(sum); }
};

/// The attention weights, for inspection. A warp writes a query's scores to its row of the result and turns them into
/// weights in place.
template <bool Additive, int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    attention_weights(const AttentionArgs<Cuda<T>> args, const T* u, const AttentionBlocks blocks, Matrix<float> weights) {
  const AttentionTask<T> task(args, blocks);
  const int query = task.block * kRowWarps + static_cast<int>(threadIdx.x) / 32;
  if (query >= task.queries) return;
  const int visible = task.visible(query);
  float* row = row_of(weights, task.head * args.q.rows + task.first_query + query);
  score_rows<Additive, N>(row, task.query(args.q, query), u, task.key(args.k, 0), args.k.stride, visible, task.width);
  const auto scale = static_cast<float>(args.scale);
  for (int j = lane_of_warp(); j < visible; j += 32) row[j] *= scale;
  const Softmax softmax(row, visible);  // more accurate than from a rounded log-sum-exp
  for (int j = lane_of_warp(); j < weights.cols; j += 32) row[j] = j < visible ? softmax(row[j]) : 0;
}

}  // namespace kernels

/// Weights of dot-product attention, or of additive attention with u.
template <bool Additive, class T>
void weights_of_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args, const T* u, Matrix<float> weights) {
  const kernels::AttentionBlocks blocks(args, args.queries, kRowWarps);
  const Index width = args.q.cols / args.heads;
  with_packs<T>(in_packs(args.q, args.k) && width % Pack<T>::size == 0 && in_packs(u, width, width), [&]<int N>() {
    launch(device, "the weights of attention", {blocks.all, 32 * kRowWarps}, kernels::attention_weights<Additive, N, T>,
           args, u, blocks, weights);
  });
}

}  // namespace attn
