#pragma once
#include "attn/cuda/attention/tiles.cuh"

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

}  // namespace attn::kernels
