#pragma once
#include "attn/cuda/attention_part.cuh"

// Attention in plain float arithmetic, for every shape: any head width, any stride, either type. 256 threads work on tiles of 64
// queries by 64 keys, each on 4 x 4 numbers: rows y + 16 i, columns x + 16 j. Operands pass through shared memory 64 columns at
// a time; a block computes 64 columns of the result, so wider heads take several, which each compute the scores anew.

namespace attn::kernels {

/// Up to 64 rows of a head, and of its columns those from some column on.
template <class T>
struct Rows {
  T* data;
  Index stride;
  int rows, cols;
};
template <class T, class U>
__device__ Rows<U> query_rows(const AttentionPart<T>& part, const Matrix<U>& m, int first, int col = 0) {
  return {part.query(m, first) + col, m.stride, part.queries - first, part.width - col};
}
template <class T, class U>
__device__ Rows<U> key_rows(const AttentionPart<T>& part, const Matrix<U>& m, int first, int col = 0) {
  return {part.key(m, first) + col, m.stride, part.keys - first, part.width - col};
}

struct PlainTiles {
  static constexpr int kThreads = 256;
  using Numbers = float[4][4];

  float a[64][65], b[64][65];  // a column more than needed: rows begin in different banks

  __device__ static int x() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ static int y() { return static_cast<int>(threadIdx.x) / 16; }

  template <class T>
  __device__ static void load(float (&tile)[64][65], const Rows<T>& from, int first) {
    for (int i = static_cast<int>(threadIdx.x); i < 64 * 64; i += kThreads) {
      const int row = i / 64, col = first + i % 64;
      tile[row][i % 64] = row < from.rows && col < from.cols ? to_float(from.data[row * from.stride + col]) : 0;
    }
  }
  __device__ void put(const Numbers& numbers) {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) a[y() + 16 * i][x() + 16 * j] = numbers[i][j];
  }
  __device__ static void add(Numbers& out, const Numbers& sum) {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) out[i][j] += sum[i][j];
  }
  /// out = A Bᵀ; some terms are summed first, so that long sums stay exact
  template <class T>
  __device__ void scores(Numbers& out, const Rows<T>& from_a, const Rows<T>& from_b) {
    for (auto& row : out)
      for (float& number : row) number = 0;
    for (int chunk = 0; chunk < from_a.cols; chunk += 64) {
      __syncthreads();
      load(a, from_a, chunk);
      load(b, from_b, chunk);
      __syncthreads();
      for (int some = 0; some < 64; some += 16) {
        Numbers sum = {};
#pragma unroll 4
        for (int k = some; k < some + 16; ++k)
          for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) sum[i][j] += a[y() + 16 * i][k] * b[x() + 16 * j][k];
        add(out, sum);
      }
    }
  }
  /// out += weights B, for up to 64 columns of B; the 64 terms are summed first
  template <class T>
  __device__ void add_weighted(Numbers& out, const Numbers& weights, const Rows<T>& from_b) {
    __syncthreads();
    put(weights);
    load(b, from_b, 0);
    __syncthreads();
    Numbers sum = {};
#pragma unroll 4
    for (int k = 0; k < 64; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += a[y() + 16 * i][k] * b[k][x() + 16 * j];
    add(out, sum);
  }
  template <class T>
  __device__ static void store(const Numbers& numbers, float factor, const Rows<T>& to, bool add) {
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const int row = y() + 16 * i, col = x() + 16 * j;
        if (row >= to.rows || col >= to.cols) continue;
        T& place = to.data[row * to.stride + col];
        place = from_float<T>(factor * numbers[i][j] + (add ? to_float(place) : 0));
      }
  }
};

/// Over the 16 threads of a row.
__device__ inline float row_sum(float x) {
  for (int other = 8; other > 0; other /= 2) x += __shfl_xor_sync(0xffffffffU, x, other);
  return x;
}
__device__ inline float row_max(float x) {
  for (int other = 8; other > 0; other /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffU, x, other));
  return x;
}

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
    tiles.add_weighted(y, p, key_rows(part, args.v, key, out_col));
  }
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    for (float& number : y[i]) number /= sum[i] > 0 ? sum[i] : 1;  // a query that sees no key: 0
    if (out_col == 0 && tiles.x() == 0 && query < part.queries)
      args.lse[part.statistic(query, args.heads)] = most[i] + logf(sum[i]);
  }
  tiles.store(y, 1, query_rows(part, args.y, first, out_col), false);
}

/// What the keys' kernel needs to know of each query and head beside its log-sum-exp.
struct PlainStatistics {
  float* delta;  // rowsum(P * dP), which is rowsum(dY * Y)
  float* norm;   // of the weights: what makes their sum 1 in spite of the log-sum-exp's rounding
};

/// dQ, 64 queries by 64 columns a block; and the statistics. Where all keys are in one tile, delta is taken from the weights
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
  float dq[4][4] = {}, p[4][4], dp[4][4], lse[4] = {}, delta[4] = {}, sum[4] = {}, norm[4] = {1, 1, 1, 1};
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    if (query >= part.queries) continue;
    const T *y = part.query(forward.y, query), *dy = part.query(args.dy, query);
    for (int col = tiles.x(); col < part.width && !one; col += 16) delta[i] += to_float(y[col]) * to_float(dy[col]);
    lse[i] = forward.lse[part.statistic(query, forward.heads)];
  }
  if (!one)
    for (float& number : delta) number = row_sum(number);

  for (int key = 0; key < seen; key += 64) {
    tiles.scores(p, query_rows(part, forward.q, first), key_rows(part, forward.k, key));
    tiles.scores(dp, query_rows(part, args.dy, first), key_rows(part, forward.v, key));
    for (int i = 0; i < 4; ++i) {
      const int query = first + tiles.y() + 16 * i, visible = part.visible(query);
      if (drop) factors.key = part.random_key(forward, query);
      for (int j = 0; j < 4; ++j) {
        const int k = key + tiles.x() + 16 * j;
        if (drop) dp[i][j] *= factors(k);
        p[i][j] = k < visible ? expf(fmaf(p[i][j], scale, -lse[i])) : 0;
      }
      float more = 0;
      for (int j = 0; j < 4; ++j) more += p[i][j];
      sum[i] += row_sum(more);
      norm[i] = sum[i] > 0 ? 1 / sum[i] : 1;
      if (one) {
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
  for (int i = 0; i < 4 && !one; ++i)
    for (float& number : dq[i]) number *= norm[i];
  tiles.store(dq, scale, query_rows(part, args.dq.to, first, out_col), args.dq.add);
  for (int i = 0; i < 4; ++i) {
    const int query = first + tiles.y() + 16 * i;
    if (out_col > 0 || tiles.x() > 0 || query >= part.queries) continue;
    statistics.delta[part.statistic(query, forward.heads)] = delta[i];
    statistics.norm[part.statistic(query, forward.heads)] = norm[i];
  }
}

/// dK and dV, 64 keys by 64 columns a block. Here rows are keys and columns queries.
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
    tiles.scores(dp, key_rows(part, forward.v, first), query_rows(part, args.dy, query));
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
    tiles.add_weighted(dv, p, query_rows(part, args.dy, query, out_col));
    tiles.add_weighted(dk, dp, query_rows(part, forward.q, query, out_col));
  }
  tiles.store(dk, scale, key_rows(part, args.dk.to, first, out_col), args.dk.add);
  tiles.store(dv, 1, key_rows(part, args.dv.to, first, out_col), args.dv.add);
}

}  // namespace attn::kernels

namespace attn {

template <class T>
void plain_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const kernels::AttentionBlocks blocks(args, args.queries, 64);
  const auto chunks = static_cast<unsigned>(divide_up(args.q.cols / args.heads, 64));
  launch(device, "attention", {{blocks.all, chunks}, kernels::PlainTiles::kThreads}, kernels::plain_attention<T>, args,
         blocks);
}

template <class T>
void plain_attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const kernels::AttentionBlocks of_queries(forward, forward.queries, 64), of_keys(forward, forward.keys, 64);
  const auto chunks = static_cast<unsigned>(divide_up(forward.q.cols / forward.heads, 64));
  const Index count = forward.q.rows * forward.heads;
  float* space = device.template workspace<float>(2 * count);
  const kernels::PlainStatistics statistics{space, space + count};
  const unsigned threads = kernels::PlainTiles::kThreads;
  launch(device, "attention's gradient of queries", {{of_queries.all, chunks}, threads}, kernels::plain_attention_dq<T>,
         args, of_queries, statistics);
  launch(device, "attention's gradient of keys", {{of_keys.all, chunks}, threads}, kernels::plain_attention_dkv<T>, args,
         of_keys, statistics);
}

}  // namespace attn
