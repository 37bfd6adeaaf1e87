#pragma once
#include "attn/cuda/attention/plain_tiles.cuh"

// Attention in float on CUDA cores, for any head width, value width, stride and type. A block processes tiles of 64 queries
// by 64 keys and computes one or several slices of 64 columns of the result; wider heads take several blocks. These blocks
// need the same scores: as a cluster they share the work, if the GPU supports the size; else each computes all scores.

namespace attn::kernels {

inline constexpr int kPlainSlices = 4;  // slices per block if more than one; their sums fill the registers

/// Computes Y, 64 queries by 64 columns per slice, and the log-sum-exps.
template <int Slices, class T>
__global__ void __launch_bounds__(PlainTiles::kThreads)
    plain_attention(const AttentionArgs<Cuda<T>> args, const AttentionBlocks blocks) {
  __shared__ PlainTiles tiles;
  const AttentionTask<T> task(args, blocks);
  const int first = task.block * 64, out_col = static_cast<int>(blockIdx.y) * 64 * Slices;
  if (first >= task.queries) return;
  const bool drop = args.dropout.rate > 0;
  Dropout::Row factors = args.dropout.row(0);
  const auto scale = static_cast<float>(args.scale);
  const int seen = task.visible(min(first + 64, task.queries) - 1);
  float y[Slices][4][4] = {}, p[4][4], most[4], sum[4] = {};
  for (float& m : most) m = -INFINITY;

  for (int key = 0; key < seen; key += 64) {
    tiles.scores(p, query_rows(task, args.q, first), key_rows(task, args.k, key));
    for (int i = 0; i < 4; ++i) {
      const int query = first + tiles.y() + 16 * i, visible = task.visible(query);
      float top = most[i], total = 0;
      for (int j = 0; j < 4; ++j) {
        p[i][j] = key + tiles.x() + 16 * j < visible ? p[i][j] * scale : -INFINITY;
        top = fmaxf(top, p[i][j]);
      }
      top = warp_max<16>(top);
      const float base = top == -INFINITY ? 0 : top, shrink = expf(most[i] - base);
      if (drop) factors.key = task.random_key(args, query);
      for (auto& columns : y)
        for (float& number : columns[i]) number *= shrink;
      for (int j = 0; j < 4; ++j) {
        p[i][j] = expf(p[i][j] - base);
        total += p[i][j];
        if (drop) p[i][j] *= factors(key + tiles.x() + 16 * j);
      }
      sum[i] = sum[i] * shrink + warp_sum<16>(total);
      most[i] = top;
    }
    tiles.add_weighted(y, p, key_value_rows(task, args.v, key, out_col));
  }
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    for (auto& columns : y)
      for (float& number : columns[i]) number /= sum[i] > 0 ? sum[i] : 1;  // 0 for a query that sees no key
    if (out_col == 0 && tiles.x() == 0 && query < task.queries)
      args.lse[task.statistic(query, args.heads)] = most[i] + logf(sum[i]);
  }
  tiles.store(y, 1, query_value_rows(task, args.y, first, out_col), false);
}

/// Per query and head; with the log-sum-exp, the input of the kernel of dK and dV.
struct PlainStatistics {
  float* delta;  // rowsum(P * dP), which is rowsum(dY * Y)
  float* norm;   // normalizes the weights to sum 1 despite the rounded log-sum-exp
};

/// Computes dQ, 64 queries by 64 columns per slice, and the statistics. If one tile holds all keys, delta is summed from
/// the weights.
template <int Slices, class T>
__global__ void __launch_bounds__(PlainTiles::kThreads)
    plain_attention_dq(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks,
                       PlainStatistics statistics) {
  __shared__ PlainTiles tiles;
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const AttentionTask<T> task(forward, blocks);
  const int first = task.block * 64, out_col = static_cast<int>(blockIdx.y) * 64 * Slices;
  if (first >= task.queries) return;
  const bool drop = forward.dropout.rate > 0;
  Dropout::Row factors = forward.dropout.row(0);
  const auto scale = static_cast<float>(forward.scale);
  const int seen = task.visible(min(first + 64, task.queries) - 1);
  const bool one = seen <= 64;  // a single tile of keys
  float dq[Slices][4][4] = {}, p[4][4], dp[4][4], lse[4] = {}, delta[4] = {}, sum[4] = {}, norm[4] = {1, 1, 1, 1};
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    if (query >= task.queries) continue;
    const T *y = task.query_values(forward.y, query), *dy = task.query_values(args.dy, query);
    for (int col = tiles.x(); col < task.value_width && !one; col += 16) delta[i] += to_float(y[col]) * to_float(dy[col]);
    lse[i] = forward.lse[task.statistic(query, forward.heads)];
  }
  if (!one)
    for (float& number : delta) number = warp_sum<16>(number);

  for (int key = 0; key < seen; key += 64) {
    tiles.scores(p, query_rows(task, forward.q, first), key_rows(task, forward.k, key));
    tiles.scores(dp, query_value_rows(task, args.dy, first), key_value_rows(task, forward.v, key));
    for (int i = 0; i < 4; ++i) {
      const int query = first + tiles.y() + 16 * i, visible = task.visible(query);
      if (drop) factors.key = task.random_key(forward, query);
      for (int j = 0; j < 4; ++j) {
        const int k = key + tiles.x() + 16 * j;
        if (drop) dp[i][j] *= factors(k);
        p[i][j] = k < visible ? expf(fmaf(p[i][j], scale, -lse[i])) : 0;
      }
      float more = 0;
      for (int j = 0; j < 4; ++j) more += p[i][j];
      sum[i] += warp_sum<16>(more);
      norm[i] = sum[i] > 0 ? 1 / sum[i] : 1;
      if (one) {
        for (int j = 0; j < 4; ++j) {
          p[i][j] *= norm[i];
          delta[i] += p[i][j] * dp[i][j];
        }
        delta[i] = warp_sum<16>(delta[i]);
      }
      for (int j = 0; j < 4; ++j) p[i][j] *= dp[i][j] - delta[i];
    }
    tiles.add_weighted(dq, p, key_rows(task, forward.k, key, out_col));
  }
  for (int i = 0; i < 4 && !one; ++i)
    for (auto& columns : dq)
      for (float& number : columns[i]) number *= norm[i];
  tiles.store(dq, scale, query_rows(task, args.dq.to, first, out_col), args.dq.add);
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    if (out_col > 0 || tiles.x() > 0 || query >= task.queries) continue;
    statistics.delta[task.statistic(query, forward.heads)] = delta[i];
    statistics.norm[task.statistic(query, forward.heads)] = norm[i];
  }
}

/// Computes dK and dV, 64 keys by 64 columns per slice; their widths may differ. Rows are keys, columns are queries.
template <int Slices, class T>
__global__ void __launch_bounds__(PlainTiles::kThreads)
    plain_attention_dkv(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks,
                        PlainStatistics statistics) {
  __shared__ PlainTiles tiles;
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const AttentionTask<T> task(forward, blocks);
  const int first = task.block * 64, out_col = static_cast<int>(blockIdx.y) * 64 * Slices;
  if (first >= task.keys) return;
  const bool drop = forward.dropout.rate > 0;
  Dropout::Row factors = forward.dropout.row(0);
  const auto scale = static_cast<float>(forward.scale);
  float dk[Slices][4][4] = {}, dv[Slices][4][4] = {}, p[4][4], dp[4][4];

  for (int query = task.first_to_see(first) / 64 * 64; query < task.queries; query += 64) {
    tiles.scores(p, key_rows(task, forward.k, first), query_rows(task, forward.q, query));
    tiles.scores(dp, key_value_rows(task, forward.v, first), query_value_rows(task, args.dy, query));
    for (int j = 0; j < 4; ++j) {
      const int q = query + tiles.x() + 16 * j, visible = q < task.queries ? task.visible(q) : 0;
      const Index place = task.statistic(min(q, task.queries - 1), forward.heads);
      const float lse = forward.lse[place], delta = statistics.delta[place], norm = statistics.norm[place];
      if (drop) factors.key = task.random_key(forward, q);
      for (int i = 0; i < 4; ++i) {
        const int key = first + tiles.y() + 16 * i;
        const float weight = key < visible ? expf(fmaf(p[i][j], scale, -lse)) * norm : 0;
        const float factor = drop ? factors(key) : 1;
        p[i][j] = weight * factor;
        dp[i][j] = weight * (dp[i][j] * factor - delta);
      }
    }
    tiles.add_weighted(dv, p, query_value_rows(task, args.dy, query, out_col));
    tiles.add_weighted(dk, dp, query_rows(task, forward.q, query, out_col));
  }
  tiles.store(dk, scale, key_rows(task, args.dk.to, first, out_col), args.dk.add);
  tiles.store(dv, 1, key_value_rows(task, args.dv.to, first, out_col), args.dv.add);
}

}  // namespace attn::kernels

namespace attn {

/// Launches `blocks` blocks for each slice of 64 of `cols` columns, as clusters that share the scores. If these blocks fill
/// the GPU more than twice, launches `several`, which computes several slices from one set of scores. The choice fixes the
/// order of sums, so it depends on the tiles of `rows` rows over all heads: a block list has fewer blocks.
template <class T, class... Args>
void launch_in_parts(Cuda<T>& device, const char* what, unsigned blocks, Index rows, Index cols, void (*one)(Args...),
                     void (*several)(Args...), const std::type_identity_t<Args>&... args) {
  const Index slices = divide_up(cols, 64);
  const bool many = slices > 1 && divide_up(rows, 64) * slices > 2 * device.multiprocessors();
  const auto high = static_cast<unsigned>(many ? divide_up(slices, kernels::kPlainSlices) : slices);
  const bool clusters = device.has_clusters() && high <= kClusterEverywhere;
  launch_in_clusters(device, what, {{blocks, high}, kernels::PlainTiles::kThreads}, dim3(1, clusters ? high : 1),
                     many ? several : one, args...);
}

template <class T>
void plain_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const kernels::AttentionBlocks blocks(args, args.queries, 64);
  launch_in_parts(device, "attention", blocks.all, args.q.rows * args.heads, args.v.cols / args.heads,
                  kernels::plain_attention<1, T>, kernels::plain_attention<kernels::kPlainSlices, T>, args, blocks);
}

template <class T>
void plain_attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const kernels::AttentionBlocks of_queries(forward, forward.queries, 64), of_keys(forward, forward.keys, 64);
  const Index count = forward.q.rows * forward.heads, width = forward.q.cols / forward.heads;
  float* space = device.template workspace<float>(2 * count);
  const kernels::PlainStatistics statistics{space, space + count};
  launch_in_parts(device, "attention's gradient of queries", of_queries.all, count, width,
                  kernels::plain_attention_dq<1, T>, kernels::plain_attention_dq<kernels::kPlainSlices, T>, args,
                  of_queries, statistics);
  launch_in_parts(device, "attention's gradient of keys", of_keys.all, forward.k.rows * forward.heads,
                  std::max(width, forward.v.cols / forward.heads), kernels::plain_attention_dkv<1, T>,
                  kernels::plain_attention_dkv<kernels::kPlainSlices, T>, args, of_keys, statistics);
}

}  // namespace attn
