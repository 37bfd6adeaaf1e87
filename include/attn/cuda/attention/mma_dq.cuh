#pragma once
#include "attn/cuda/attention/mma_tiles.cuh"

namespace attn::kernels {

/// Computes dQ of 64 * M queries, and the statistics. If the queries see at most 64 keys, a separate pass before dQ sums
/// delta = rowsum(P * dP): delta cancels most of dP for a query with few keys, and Y, in TF32 dP, is
/// rounded.
template <class T, int W, int M, bool Drop>
__global__ void __launch_bounds__(kMmaThreads, M == 2 || W * sizeof(T) > 128 ? 2 : 3)
    mma_attention_dq(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks,
                     const QueryStatistics statistics) {
  if (!is_mma_launched<T, W>()) return;
  extern __shared__ __align__(1024) unsigned char mma_shared[];
  using Layout = MmaLayout<T, W, M, 3, 2>;
  constexpr int kKeys = kMmaTile<T, W>, kStep = kMmaWide<T, W> ? 16 : 32,
                kNumbers = kStep / 2;  // keys per step; their scores stay in registers
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const QueryTask task(forward, blocks, 64 * M);
  const int first = task.first;
  if (first >= task.queries) return;
  const MmaPosition at;
  const int own = at.warp * 16 * M, mine = first + own;  // the warp's first row in the block, in the sentence
  const int tiles = (task.seen + kKeys - 1) / kKeys;
  const bool few = task.seen <= 64;   // sum delta from P * dP
  const int extra = few ? tiles : 0;  // tiles of the pass for delta
  const bool stays = tiles == 1;      // both passes use the same tile

  T *const slots = reinterpret_cast<T*>(mma_shared), *const results = slots + Layout::own_at;  // Y
  T *const queries = results + Layout::own, *const gradients = queries + Layout::own;          // Q, dY
  const auto slot_of = [&](int turn) { return slots + (stays ? 0 : turn % 2) * Layout::slot; };
  const auto fill_slot = [&](int turn) {
    const int row = (turn < extra ? turn : turn - extra) * kKeys;
    T* const slot = slot_of(turn);
    fill_swizzled<W, kKeys>(slot, forward.k, task.first_key + row, task.keys - row, task);
    fill_swizzled<W, kKeys>(slot + Layout::tile, forward.v, task.first_key + row, task.keys - row, task);
    close_copies();
  };
  const int row = task.first_query + first, rows = task.queries - first;
  fill_swizzled<W, 64 * M>(queries, forward.q, row, rows, task);
  fill_swizzled<W, 64 * M>(gradients, args.dy, row, rows, task);
  if (!few) fill_swizzled<W, 64 * M>(results, forward.y, row, rows, task);
  close_copies();
  if (!Layout::overlaps_first && tiles > 0) fill_slot(0);

  float lse[M][2], delta[M][2] = {};
  RandomKey random[M][2];
  unrolled<M, 2>([&](int m, int half) {
    const int query = mine + at.row(m, half);
    const float natural = query < task.queries ? forward.lse[task.statistic(query, forward.heads)] : -INFINITY;
    // The weights of a missing query, or of one that sees no key, are 0.
    lse[m][half] = natural == -INFINITY ? INFINITY : natural * kLog2E;
    if (Drop) random[m][half] = task.random_key(forward, query);
  });
  const int diagonal = mine + causal_shift(task);  // the last key that the warp's first query sees, not clipped to the keys
  const auto scale = static_cast<float>(forward.scale * kLog2E);
  const Dropout::Row dropout = forward.dropout.row(0);
  const Lanes<T, W> lanes;

  const auto finish_delta = [&] {
    unrolled<M, 2>([&](int m, int half) {
      delta[m][half] = quad_sum(delta[m][half]);
      const int query = mine + at.row(m, half);
      if (at.lane % 4 != 0 || query >= task.queries) return;
      const Index place = task.head * forward.q.rows + task.first_query + query;
      statistics.lse[place] = lse[m][half];
      statistics.delta[place] = delta[m][half];
    });
  };

  // Where registers are scarce, Q and dY are partly read from their tiles; then no slot overlaps these.
  constexpr int kFragments = W / kMmaDepth<T>, kHeldQ = W > 128 ? 1 : kFragments;
  constexpr int kSpared = M * W < 128 ? 0 : std::is_same_v<T, float> ? kFragments / 2 : 2;
  constexpr int kCaches = W > 128 ? 1 : kFragments - kSpared;
  static_assert((kCaches == kFragments || Layout::keeps(2)) && (kHeldQ == kFragments || Layout::keeps(1)));
  std::uint32_t q[M][kHeldQ][4], dy[M][kCaches][4];
  const std::uint32_t rest_q = shared_address(queries + own * W), rest = shared_address(gradients + own * W);
  float dq[M][W / 2] = {};
  wait_for_own_copies<0>();
  __syncthreads();
  load_fragments<W>(q, queries, own);
  load_fragments<W>(dy, gradients, own);
  if (!few) {
    unrolled<M, kFragments>([&](int m, int k) {
      std::uint32_t y[4], d[4];
      load_matrices(y, lanes.address(shared_address(results + own * W), 16 * m, k));
      load_matrices(d, lanes.address(rest, 16 * m, k));
      unrolled<4>([&](int i) { delta[m][i % 2] = add_products<T>(y[i], d[i], delta[m][i % 2]); });
    });
    finish_delta();
  } else if (tiles == 0) {
    finish_delta();
  }
  if (Layout::overlaps_first && tiles > 0) {
    __syncthreads();  // all warps have their rows in registers
    fill_slot(0);
  }

  for (int turn = 0; turn < extra + tiles; ++turn) {
    wait_for_own_copies<0>();
    __syncthreads();  // the tile has arrived, and all warps are done with the previous one
    if (!stays && turn + 1 < extra + tiles) fill_slot(turn + 1);
    const std::uint32_t keys = shared_address(slot_of(turn)), values = keys + Layout::tile * sizeof(T);
    const int tile_key = (turn < extra ? turn : turn - extra) * kKeys;
#pragma unroll
    for (int step = 0; step < kKeys; step += kStep) {
      const int key = tile_key + step;
      if (key >= task.keys || key > diagonal + 16 * M - 1) break;
      float s[M][kNumbers], dp[M][kNumbers];
      mma_rows(s, q, lanes, keys, step, rest_q);
      mma_rows(dp, dy, lanes, values, step, rest);
      const bool masked = key + kStep > task.keys || key + kStep - 1 > diagonal;
      unrolled<M>([&](int m) {
        if (masked)
          unrolled<kNumbers>([&](int i) {
            // Keys of the step that the row sees.
            const int limit = min(task.keys - key, diagonal + at.row(m, i / 2 % 2) + 1 - key);
            if (at.col(i) >= limit) s[m][i] = -INFINITY;
          });
        unrolled<kNumbers>([&](int i) {
          s[m][i] = power_of_2(fmaf(s[m][i], scale, -lse[m][i / 2 % 2]));
          if (Drop)
            dp[m][i] = random_bits(random[m][i / 2 % 2], static_cast<std::uint32_t>(key + at.col(i))) < dropout.threshold
                           ? 0
                           : dp[m][i] * dropout.scale;
        });
      });
      if (turn < extra) {
        unrolled<M, kNumbers>([&](int m, int i) { delta[m][i / 2 % 2] = fmaf(s[m][i], dp[m][i], delta[m][i / 2 % 2]); });
        continue;
      }
      unrolled<M, kNumbers>([&](int m, int i) { s[m][i] *= dp[m][i] - delta[m][i / 2 % 2]; });
      std::uint32_t ds[M][kStep / kMmaDepth<T>][4];
      round_all<T>(ds, s);
      mma_columns(dq, ds, lanes, keys, step);
    }
    if (turn == extra - 1) finish_delta();
  }
  __syncthreads();  // all tiles are free

  float factor[M][2];
  unrolled<M>([&](int m) { factor[m][0] = factor[m][1] = static_cast<float>(forward.scale); });
  if (mine < task.queries)
    store_swizzled<W, M>(task.query(args.dq.to, mine), args.dq.to.stride, args.dq.add, task.queries - mine, task.width, dq,
                         factor, slots + own * W);
}

}  // namespace attn::kernels
