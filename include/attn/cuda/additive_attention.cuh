#pragma once
#include "attn/cuda/attention/rows.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/attention.hpp"

// The gradient takes three kernels. The first uses a warp per query: it recomputes the weights P and dS and sums dQ and the
// block's part of du. The second uses a warp per key and sums dK and dV. The third adds up du. P and dS are kept in memory;
// tanh of a query and a key is recomputed wherever it is needed.

namespace attn {
namespace kernels {

inline constexpr int kAdditiveWarps = 4;  // of the forward pass; one query per warp

/// Scores are in shared memory, or in `space`, one row per query, if a sentence is too long for that.
template <int N, class T>
__global__ void __launch_bounds__(32 * kAdditiveWarps)
    additive_attention(const AttentionArgs<Cuda<T>> args, const T* u, const AttentionBlocks blocks, float* space) {
  extern __shared__ float additive_scores[];
  wait_for_earlier();
  let_next_begin();
  const AttentionTask<T> task(args, blocks);
  const int warp = static_cast<int>(threadIdx.x) / 32, query = task.block * kAdditiveWarps + warp;
  if (query >= task.queries) return;
  const int visible = task.visible(query);
  float* scores =
      space != nullptr ? space + task.statistic(query, 1) * args.keys.longest : additive_scores + warp * args.keys.longest;
  score_rows<true, N>(scores, task.query(args.q, query), u, task.key(args.k, 0), args.k.stride, visible, task.width);
  const Softmax softmax(scores, visible);
  if (lane_of_warp() == 0) args.lse[task.statistic(query, 1)] = softmax.log_sum_exp();
  for (int j = lane_of_warp(); j < visible; j += 32) scores[j] = softmax(scores[j]);
  __syncwarp();
  sum_rows<N>(
      task.key_values(args.v, 0), args.v.stride, visible, task.value_width, [&](int j) { return scores[j]; },
      [&](int column, const float(&y)[8]) {
        put_eight<N>(task.query_values(args.y, query), column, task.value_width, y, false);
      });
}

struct AdditiveSpace {
  float *p, *ds;  // query rows x longest key count
  float* du;      // `parts` x width
  int parts;      // blocks of the first kernel
};

/// Warp-level. With T = tanh(x + row j), slopes sums weight(j) * (1 - T²) over `count` rows and squashed, if Squashed,
/// weight(j) * T. The lanes of one row call put(column, slopes, squashed) for eight columns each.
template <bool Squashed, int N, class T, class Weight, class Put>
__device__ void sum_squashed(const T* x, const T* rows, Index stride, int count, int width, const Weight& weight,
                             const Put& put) {
  for (int first = 0; first < width; first += 64) {
    const int column = first + column_of_lane();
    float mine[8], slopes[8] = {}, squashed[8] = {};
    load_eight<N>(mine, x, column, width);
#pragma unroll 2
    for (int j = row_of_lane(); j < count; j += kRowsAtOnce) {
      const float w = weight(j);
      float row[8];
      load_eight<N>(row, rows + row_offset(j, stride), column, width);
      unrolled<8>([&](int k) {
        const float t = squash<T>(mine[k] + row[k]);
        slopes[k] += w * (1 - t * t);
        if constexpr (Squashed) squashed[k] += w * t;
      });
    }
    sum_of_rows(slopes);
    if constexpr (Squashed) sum_of_rows(squashed);
    if (row_of_lane() == 0) put(column, slopes, squashed);
  }
}

/// Sets or adds u * x.
template <int N, class T>
__device__ void put_times(T* row, const T* u, int column, int width, const float (&x)[8], bool add) {
  float product[8];
  load_eight<N>(product, u, column, width);
  unrolled<8>([&](int k) { product[k] *= x[k]; });
  put_eight<N>(row, column, width, product, add);
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    additive_attention_dq(const AttentionArgs<Cuda<T>> args, const T* u, const Matrix<const T> dy, const Sink<T> dq,
                          const AttentionBlocks blocks, const AdditiveSpace space) {
  extern __shared__ float additive_du[];  // one row per warp
  const AttentionTask<T> task(args, blocks);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  float* du = space.du + Index{blockIdx.x} * task.width;
  if (task.block * kRowWarps >= task.queries) {
    for (int column = thread; column < task.width; column += 32 * kRowWarps) du[column] = 0;
    return;
  }
  const bool busy = task.block * kRowWarps + warp < task.queries;
  const int query = busy ? task.block * kRowWarps + warp : task.queries - 1, visible = busy ? task.visible(query) : 0;
  const T* keys = task.key(args.k, 0);
  float* p = space.p + task.statistic(query, 1) * args.keys.longest;
  float* ds = space.ds + task.statistic(query, 1) * args.keys.longest;

  score_rows<true, N>(p, task.query(args.q, query), u, keys, args.k.stride, visible, task.width);
  score_rows<false, N>(ds, task.query_values(dy, query), u, task.key_values(args.v, 0), args.v.stride, visible,
                       task.value_width);  // dP
  const Softmax softmax(p, visible);
  float delta = 0;
  for (int j = lane_of_warp(); j < visible; j += 32) {
    p[j] = softmax(p[j]);
    delta += p[j] * ds[j];
  }
  delta = warp_sum(delta);
  for (int j = lane_of_warp(); j < visible; j += 32) ds[j] = p[j] * (ds[j] - delta);
  __syncwarp();
  sum_squashed<true, N>(
      task.query(args.q, query), keys, args.k.stride, visible, task.width, [&](int j) { return ds[j]; },
      [&](int column, const float(&slopes)[8], const float(&squashed)[8]) {
        if (busy) put_times<N>(task.query(dq.to, query), u, column, task.width, slopes, dq.add);
        put_eight<1>(additive_du + warp * task.width, column, task.width, squashed, false);
      });
  __syncthreads();
  for (int column = thread; column < task.width; column += 32 * kRowWarps) {
    float sum = 0;
    unrolled<kRowWarps>([&](int i) { sum += additive_du[i * task.width + column]; });
    du[column] = sum;
  }
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    additive_attention_dkv(const AttentionArgs<Cuda<T>> args, const T* u, const Matrix<const T> dy, const Sink<T> dk,
                           const Sink<T> dv, const AttentionBlocks blocks, const AdditiveSpace space) {
  const AttentionTask<T> task(args, blocks);
  const int key = task.block * kRowWarps + static_cast<int>(threadIdx.x) / 32;
  if (key >= task.keys) return;
  const int first = task.first_to_see(key), count = max(task.queries - first, 0);
  const Index longest = args.keys.longest, place = task.statistic(first, 1) * longest + key;
  sum_squashed<false, N>(
      task.key(args.k, key), task.query(args.q, first), args.q.stride, count, task.width,
      [&](int i) { return space.ds[place + i * longest]; },
      [&](int column, const float(&slopes)[8], const float(&)[8]) {
        put_times<N>(task.key(dk.to, key), u, column, task.width, slopes, dk.add);
      });
  sum_rows<N>(
      task.query_values(dy, first), dy.stride, count, task.value_width, [&](int i) { return space.p[place + i * longest]; },
      [&](int column, const float(&sum)[8]) {
        put_eight<N>(task.key_values(dv.to, key), column, task.value_width, sum, dv.add);
      });
}

}  // namespace kernels

template <class T>
bool additive_in_packs(const AttentionArgs<Cuda<T>>& args) {
  return in_packs(args.q, args.k, args.v, args.y) && in_packs(args.u, args.q.cols, args.q.cols);
}

template <class T>
void additive_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const kernels::AttentionBlocks blocks(args, args.queries, kernels::kAdditiveWarps);
  std::size_t shared = kernels::kAdditiveWarps * static_cast<std::size_t>(args.keys.longest) * sizeof(float);
  float* space = nullptr;
  if (shared > 48 * 1024) space = device.template workspace<float>(args.q.rows * args.keys.longest), shared = 0;
  with_packs<T>(additive_in_packs(args), [&]<int N>() {
    launch_overlapping(device, "additive attention", {blocks.all, 32 * kernels::kAdditiveWarps, shared},
                       kernels::additive_attention<N, T>, args, args.u, blocks, space);
  });
}

template <class T>
void additive_attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const T* u = forward.u;
  const kernels::AttentionBlocks of_queries(forward, forward.queries, kRowWarps), of_keys(forward, forward.keys, kRowWarps);
  const Index weights = forward.q.rows * forward.keys.longest, width = forward.q.cols;
  float* space = device.template workspace<float>(2 * weights + of_queries.all * width);
  const kernels::AdditiveSpace parts{space, space + weights, space + 2 * weights, static_cast<int>(of_queries.all)};
  const bool packs = additive_in_packs(forward) && in_packs(args.dy, args.dq.to, args.dk.to, args.dv.to);
  with_packs<T>(packs, [&]<int N>() {
    launch(device, "additive attention's gradient of queries",
           {of_queries.all, 32 * kRowWarps, kRowWarps * static_cast<std::size_t>(width) * sizeof(float)},
           kernels::additive_attention_dq<N, T>, forward, u, args.dy, args.dq, of_queries, parts);
    launch(device, "additive attention's gradient of keys", {of_keys.all, 32 * kRowWarps},
           kernels::additive_attention_dkv<N, T>, forward, u, args.dy, args.dk, args.dv, of_keys, parts);
  });
  sum_parts(device, "additive attention's gradient of u", kernels::SumsToVectors<1>{{args.du}}, 1, width, true, parts.du,
            parts.parts, width);
}

}  // namespace attn
