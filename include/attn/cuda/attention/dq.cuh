#pragma once
#include "attn/cuda/attention/mma_tiles.cuh"

namespace attn::kernels {

/// Warpgroups per block, limited by the registers of a multiprocessor.
template <int Slices>
inline constexpr unsigned kQueryGroups = Slices == 1 ? 3 : 2;

/// Computes dQ of 64 queries per warpgroup, and the statistics.
template <int Slices, bool Drop>
__global__ void __launch_bounds__(128 * kQueryGroups<Slices>, 1)
    attention_dq(const AttentionGradientArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks,
                 const QueryStatistics statistics) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  constexpr int kSlot = Slices * kTile;
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const int groups = static_cast<int>(blockDim.x) / 128;
  const QueryTask task(forward, blocks, groups * kRows);
  const int first = task.first;
  if (first >= task.queries) return;
  const ThreadPosition at;
  const int mine = first + at.group * kRows;  // this warpgroup's first query
  const bool busy = mine < task.queries;
  const int tiles = max((task.seen + kRows - 1) / kRows, 1);  // at least one, so that a product sets dQ

  bfloat16* const keys = attention_tiles;                  // three slots
  bfloat16* const values = keys + 3 * kSlot;               // three slots
  bfloat16* const queries = values + 3 * kSlot;            // one per warpgroup
  bfloat16* const gradients = queries + groups * kSlot;    // dY
  bfloat16* const results = queries + 2 * groups * kSlot;  // Y
  bfloat16 *const own = queries + at.group * kSlot, *const own_gradients = gradients + at.group * kSlot;

  const auto fill_queries = [&](bfloat16* to, const auto& from) {
    for (int g = 0; g < groups; ++g) {
      const int query = first + g * kRows;
      fill<Slices>(to + g * kSlot, from, task.first_query + query, task.queries - query, task);
    }
  };
  const auto fill_keys = [&](int tile, int slot) {
    const int row = tile * kRows;
    fill<Slices>(keys + slot * kSlot, forward.k, task.first_key + row, task.keys - row, task);
    fill<Slices>(values + slot * kSlot, forward.v, task.first_key + row, task.keys - row, task);
  };
  fill_queries(queries, forward.q);
  fill_queries(gradients, args.dy);
  if (tiles > 1) fill_queries(results, forward.y);
  fill_keys(0, 0);
  close_copies();

  float lse[2], delta[2] = {};
  int visible[2];
  RandomKey random[2];
  for (int half = 0; half < 2; ++half) {
    const int query = mine + at.row(half);
    const float natural = query < task.queries ? forward.lse[task.statistic(query, forward.heads)] : -INFINITY;
    // The weights of a missing query, or of one that sees no key, are 0.
    lse[half] = natural == -INFINITY ? INFINITY : natural * kLog2E;
    visible[half] = task.visible(query);
    if (Drop) random[half] = task.random_key(forward, query);
  }
  const int all_visible = task.visible(mine);  // keys that every row of the warpgroup sees
  const auto scale = static_cast<float>(forward.scale * kLog2E);
  const Dropout::Row dropout = forward.dropout.row(0);

  // If one tile holds all keys, delta is summed from P * dP instead of dY * Y: delta cancels most of dP for a query with
  // few keys, and Y is rounded.
  const auto note_statistics = [&] {
    unrolled<2>([&](int half) {
      delta[half] = quad_sum(delta[half]);
      const int query = mine + at.row(half);
      if (at.lane % 4 != 0 || query >= task.queries) return;
      const Index place = task.head * forward.q.rows + task.first_query + query;
      statistics.lse[place] = lse[half];
      statistics.delta[place] = delta[half];
    });
  };
  std::uint32_t rounded[4][4];
  float dq[Slices][32];
  wait_for_copies<0>();
  __syncthreads();
  if (busy && tiles > 1) {
    std::uint32_t y[4 * Slices][4], dy[4 * Slices][4];
    load_rows<Slices>(y, results + at.group * kSlot, at.warp);
    load_rows<Slices>(dy, own_gradients, at.warp);
    unrolled<4 * Slices, 4>([&](int k, int i) { delta[i % 2] = dot(y[k][i], dy[k][i], delta[i % 2]); });
    note_statistics();
  }

  const auto fill_next = [&](int tile) {
    if (tile + 1 < tiles) fill_keys(tile + 1, (tile + 1) % 3);
    close_copies();
  };
  if (!busy) {
    for (int tile = 0; tile < tiles; ++tile) wait_for_tile(), fill_next(tile);
    return;
  }
  int tile = 0;
  do {
    wait_for_tile();
    const bfloat16 *k = keys + tile % 3 * kSlot, *v = values + tile % 3 * kSlot;
    float s[32], dp[32];
    begin_products();
    multiply_rows<Slices>(s, own, k);
    close_products();
    multiply_rows<Slices>(dp, own_gradients, v);
    close_products();
    fill_next(tile);
    wait_for_products<1>();  // S, and dQ of the previous tile
    settle(s);
    if ((tile + 1) * kRows > all_visible)
      unrolled<32>([&](int i) {
        if (tile * kRows + at.col(i / 4) + i % 2 >= visible[i / 2 % 2]) s[i] = -INFINITY;
      });
    std::uint32_t dropped = 0;
    unrolled<32>([&](int i) {
      s[i] = power_of_2(fmaf(s[i], scale, -lse[i / 2 % 2]));
      const auto key = static_cast<std::uint32_t>(tile * kRows + at.col(i / 4) + i % 2);
      if (Drop && random_bits(random[i / 2 % 2], key) < dropout.threshold) dropped |= 1U << i;
    });
    wait_for_products<0>();
    settle(dp);
    unrolled<32>([&](int i) {
      if (Drop) dp[i] = dropped >> i & 1U ? 0 : dp[i] * dropout.scale;
    });
    if (tiles == 1) {
      unrolled<32>([&](int i) { delta[i / 2 % 2] = fmaf(s[i], dp[i], delta[i / 2 % 2]); });
      note_statistics();
    }
    unrolled<32>([&](int i) { s[i] *= dp[i] - delta[i / 2 % 2]; });
    round_rows(rounded, s);
    settle(rounded);
    begin_products();
    multiply_columns<Slices>(dq, rounded, k, tile > 0);
    close_products();
  } while (++tile < tiles);
  wait_for_products<0>();
  settle(dq);
  const auto factor = static_cast<float>(forward.scale);
  store_rows<Slices>(task.query(args.dq.to, mine), args.dq.to.stride, args.dq.add, task.queries - mine, task.width, dq,
                     {factor, factor}, own, at);
#endif
}

/// Computes dQ of 64 * M queries, and the statistics. If the queries see at most 64 keys, a separate pass before dQ sums
/// delta = rowsum(P * dP): delta cancels most of dP for a query with few keys, and Y is rounded.
template <int W, int M, bool Drop>
__global__ void __launch_bounds__(kMmaThreads, M == 2 || W > 64 ? 2 : 3)
    mma_attention_dq(const AttentionGradientArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks,
                     const QueryStatistics statistics) {
  if (!is_mma_launched<W>()) return;
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  using Layout = MmaLayout<W, M, 3, 2>;
  constexpr int kKeys = kMmaTile<W>, kStep = W <= 128 ? 32 : 16,
                kNumbers = kStep / 2;  // keys per step; their scores stay in registers
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const QueryTask task(forward, blocks, 64 * M);
  const int first = task.first;
  if (first >= task.queries) return;
  const MmaPosition at;
  const int own = at.warp * 16 * M, mine = first + own;  // the warp's first row in the block, in the sentence
  const int tiles = (task.seen + kKeys - 1) / kKeys;
  const bool few = task.seen <= 64;   // sum delta from P * dP
  const int extra = few ? tiles : 0;  // tiles of the pass for delta
  const bool stays = tiles == 1;      // both passes use the same tile

  bfloat16* const results = attention_tiles + Layout::own_at;                                 // Y
  bfloat16 *const queries = results + Layout::own, *const gradients = queries + Layout::own;  // Q, dY
  const auto slot_of = [&](int turn) { return attention_tiles + (stays ? 0 : turn % 2) * Layout::slot; };
  const auto fill_slot = [&](int turn) {
    const int row = (turn < extra ? turn : turn - extra) * kKeys;
    bfloat16* const slot = slot_of(turn);
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
  const Lanes<W> lanes;

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
  constexpr int kCaches = W > 128 ? 1 : W / 16 - (M * W < 128 ? 0 : 2), kHeldQ = W > 128 ? 1 : W / 16;
  static_assert((kCaches == W / 16 || Layout::keeps(2)) && (kHeldQ == W / 16 || Layout::keeps(1)));
  std::uint32_t q[M][kHeldQ][4], dy[M][kCaches][4];
  const std::uint32_t rest_q = shared_address(queries + own * W), rest = shared_address(gradients + own * W);
  float dq[M][W / 2] = {};
  wait_for_own_copies<0>();
  __syncthreads();
  load_fragments<W>(q, queries, own);
  load_fragments<W>(dy, gradients, own);
  if (!few) {
    unrolled<M, W / 16>([&](int m, int k) {
      std::uint32_t y[4], d[4];
      load_matrices(y, lanes.address(shared_address(results + own * W), 16 * m, k));
      load_matrices(d, lanes.address(rest, 16 * m, k));
      unrolled<4>([&](int i) { delta[m][i % 2] = dot(y[i], d[i], delta[m][i % 2]); });
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
    const std::uint32_t keys = shared_address(slot_of(turn)), values = keys + Layout::tile * 2;
    const int tile_key = (turn < extra ? turn : turn - extra) * kKeys;
#pragma unroll
    for (int step = 0; step < kKeys; step += kStep) {
      const int key = tile_key + step;
      if (key >= task.keys || key > diagonal + 16 * M - 1) break;
      float s[M][kNumbers], dp[M][kNumbers];
      mma_rows<W, M>(s, q, lanes, keys, step, rest_q);
      mma_rows<W, M>(dp, dy, lanes, values, step, rest);
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
      std::uint32_t ds[M][kStep / 16][4];
      round_all(ds, s);
      mma_columns<W, M>(dq, ds, lanes, keys, step);
    }
    if (turn == extra - 1) finish_delta();
  }
  __syncthreads();  // all tiles are free

  float factor[M][2];
  unrolled<M>([&](int m) { factor[m][0] = factor[m][1] = static_cast<float>(forward.scale); });
  if (mine < task.queries)
    store_swizzled<W, M>(task.query(args.dq.to, mine), args.dq.to.stride, args.dq.add, task.queries - mine, task.width, dq,
                         factor, attention_tiles + own * W);
}

}  // namespace attn::kernels
