#pragma once
#include <algorithm>

#include "attn/cuda/attention_plain_tiles.cuh"

// Attention in plain float arithmetic, for every shape: any head width, values of any width, any stride, either type. A block takes
// tiles of 64 queries by 64 keys and computes 64 columns of the result, so wider heads take several, which each compute the scores
// anew.

namespace attn::kernels {

/// Y, 64 queries by 64 columns a block, and the log-sum-exps.
template <class T>
__global__ void __launch_bounds__(PlainTiles::kThreads)
    plain_attention(const AttentionArgs<Cuda<T>> args, const AttentionBlocks blocks) {
  __shared__ PlainTiles tiles;
  const AttentionPart<T> part(args, blocks);
  const int first = part.block * 64, out_col = static_cast<int>(blockIdx.y) * 64;
  if (first >= part.queries) return;
  const bool drop = args.dropout.rate > 0;
  Dropout::Row factors = args.dropout.row(0);
  const auto scale = static_cast<float>(args.scale);
  const int seen = part.visible(min(first + 64, part.queries) - 1);
  float y[4][4] = {}, p[4][4], most[4], sum[4] = {};
  for (float& m : most) m = -INFINITY;

  for (int key = 0; key < seen; key += 64) {
    tiles.scores(p, query_rows(part, args.q, first), key_rows(part, args.k, key));
    for (int i = 0; i < 4; ++i) {
      const int query = first + tiles.y() + 16 * i, visible = part.visible(query);
      float top = most[i], total = 0;
      for (int j = 0; j < 4; ++j) {
        p[i][j] = key + tiles.x() + 16 * j < visible ? p[i][j] * scale : -INFINITY;
        top = fmaxf(top, p[i][j]);
      }
      top = row_max(top);
      const float base = top == -INFINITY ? 0 : top, shrink = expf(most[i] - base);
      if (drop) factors.key = part.random_key(args, query);
      for (int j = 0; j < 4; ++j) {
        y[i][j] *= shrink;
        p[i][j] = expf(p[i][j] - base);
        total += p[i][j];
        if (drop) p[i][j] *= factors(key + tiles.x() + 16 * j);
      }
      sum[i] = sum[i] * shrink + row_sum(total);
      most[i] = top;
    }
    tiles.add_weighted(y, p, key_value_rows(part, args.v, key, out_col));
  }
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    for (float& number : y[i]) number /= sum[i] > 0 ? sum[i] : 1;  // a query that sees no key: 0
    if (out_col == 0 && tiles.x() == 0 && query < part.queries)
      args.lse[part.statistic(query, args.heads)] = most[i] + logf(sum[i]);
  }
  tiles.store(y, 1, query_value_rows(part, args.y, first, out_col), false);
}

/// What the keys' kernel needs to know of each query and head beside its log-sum-exp.
struct PlainStatistics {
  float* delta;  // rowsum(P * dP), which is rowsum(dY * Y)
  float* norm;   // of the weights: what makes their sum 1 in spite of the log-sum-exp's rounding
};

/// dQ, 64 queries by 64 columns a block; and the statistics. Where all keys are in one tile, both are taken from the weights
/// themselves.
template <class T>
__global__ void __launch_bounds__(PlainTiles::kThreads)
    plain_attention_dq(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks,
                       PlainStatistics statistics) {
  __shared__ PlainTiles tiles;
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const AttentionPart<T> part(forward, blocks);
  const int first = part.block * 64, out_col = static_cast<int>(blockIdx.y) * 64;
  if (first >= part.queries) return;
  const bool drop = forward.dropout.rate > 0;
  Dropout::Row factors = forward.dropout.row(0);
  const auto scale = static_cast<float>(forward.scale);
  const int seen = part.visible(min(first + 64, part.queries) - 1);
  const bool one = seen <= 64;  // tile of keys
  float dq[4][4] = {}, p[4][4], dp[4][4], lse[4] = {}, delta[4] = {}, norm[4];
  for (float& number : norm) number = 1;
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    if (query >= part.queries) continue;
    const T *y = part.query_values(forward.y, query), *dy = part.query_values(args.dy, query);
    for (int col = tiles.x(); col < part.value_width && !one; col += 16) delta[i] += to_float(y[col]) * to_float(dy[col]);
    lse[i] = forward.lse[part.statistic(query, forward.heads)];
  }
  if (!one)
    for (float& number : delta) number = row_sum(number);

  for (int key = 0; key < seen; key += 64) {
    tiles.scores(p, query_rows(part, forward.q, first), key_rows(part, forward.k, key));
    tiles.scores(dp, query_value_rows(part, args.dy, first), key_value_rows(part, forward.v, key));
    for (int i = 0; i < 4; ++i) {
      const int query = first + tiles.y() + 16 * i, visible = part.visible(query);
      if (drop) factors.key = part.random_key(forward, query);
      for (int j = 0; j < 4; ++j) {
        const int k = key + tiles.x() + 16 * j;
        if (drop) dp[i][j] *= factors(k);
        p[i][j] = k < visible ? expf(fmaf(p[i][j], scale, -lse[i])) : 0;
      }
      if (one) {
        float sum = 0;
        for (int j = 0; j < 4; ++j) sum += p[i][j];
        sum = row_sum(sum);
        if (sum > 0) norm[i] = 1 / sum;
        for (int j = 0; j < 4; ++j) {
          p[i][j] *= norm[i];
          delta[i] += p[i][j] * dp[i][j];
        }
        delta[i] = row_sum(delta[i]);
      }
      for (int j = 0; j < 4; ++j) p[i][j] *= dp[i][j] - delta[i];
    }
    tiles.add_weighted(dq, p, key_rows(part, forward.k, key, out_col));
  }
  tiles.store(dq, scale, query_rows(part, args.dq.to, first, out_col), args.dq.add);
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    if (out_col > 0 || tiles.x() > 0 || query >= part.queries) continue;
    statistics.delta[part.statistic(query, forward.heads)] = delta[i];
    statistics.norm[part.statistic(query, forward.heads)] = norm[i];
  }
}

/// dK and dV, 64 keys by 64 columns a block; where one is narrower than the other, nothing is beyond its columns. Here rows are keys
/// and columns queries.
template <class T>
__global__ void __launch_bounds__(PlainTiles::kThreads)
    plain_attention_dkv(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks,
                        PlainStatistics statistics) {
  __shared__ PlainTiles tiles;
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const AttentionPart<T> part(forward, blocks);
  const int first = part.block * 64, out_col = static_cast<int>(blockIdx.y) * 64;
  if (first >= part.keys) return;
  const bool drop = forward.dropout.rate > 0;
  Dropout::Row factors = forward.dropout.row(0);
  const auto scale = static_cast<float>(forward.scale);
  float dk[4][4] = {}, dv[4][4] = {}, p[4][4], dp[4][4];

  for (int query = part.first_to_see(first) / 64 * 64; query < part.queries; query += 64) {
    tiles.scores(p, key_rows(part, forward.k, first), query_rows(part, forward.q, query));
    tiles.scores(dp, key_value_rows(part, forward.v, first), query_value_rows(part, args.dy, query));
    for (int j = 0; j < 4; ++j) {
      const int q = query + tiles.x() + 16 * j, visible = q < part.queries ? part.visible(q) : 0;
      const Index place = part.statistic(min(q, part.queries - 1), forward.heads);
      const float lse = forward.lse[place], delta = statistics.delta[place], norm = statistics.norm[place];
      if (drop) factors.key = part.random_key(forward, q);
      for (int i = 0; i < 4; ++i) {
        const int key = first + tiles.y() + 16 * i;
        const float weight = key < visible ? expf(fmaf(p[i][j], scale, -lse)) * norm : 0;
        const float factor = drop ? factors(key) : 1;
        p[i][j] = weight * factor;
        dp[i][j] = weight * (dp[i][j] * factor - delta);
      }
    }
    tiles.add_weighted(dv, p, query_value_rows(part, args.dy, query, out_col));
    tiles.add_weighted(dk, dp, query_rows(part, forward.q, query, out_col));
  }
  tiles.store(dk, scale, key_rows(part, args.dk.to, first, out_col), args.dk.add);
  tiles.store(dv, 1, key_value_rows(part, args.dv.to, first, out_col), args.dv.add);
}

}  // namespace attn::kernels

namespace attn {

template <class T>
void plain_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const kernels::AttentionBlocks blocks(args, args.queries, 64);
  const auto chunks = static_cast<unsigned>(divide_up(args.v.cols / args.heads, 64));
  launch(device, "attention", {{blocks.all, chunks}, kernels::PlainTiles::kThreads}, kernels::plain_attention<T>, args,
         blocks);
}

template <class T>
void plain_attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const kernels::AttentionBlocks of_queries(forward, forward.queries, 64), of_keys(forward, forward.keys, 64);
  const auto chunks = [&](Index cols) { return static_cast<unsigned>(divide_up(cols / forward.heads, 64)); };
  const Index count = forward.q.rows * forward.heads;
  float* space = device.template workspace<float>(2 * count);
  const kernels::PlainStatistics statistics{space, space + count};
  const unsigned threads = kernels::PlainTiles::kThreads;
  launch(device, "attention's gradient of queries", {{of_queries.all, chunks(forward.q.cols)}, threads},
         kernels::plain_attention_dq<T>, args, of_queries, statistics);
  launch(device, "attention's gradient of keys", {{of_keys.all, chunks(std::max(forward.q.cols, forward.v.cols))}, threads},
         kernels::plain_attention_dkv<T>, args, of_keys, statistics);
}

}  // namespace attn
