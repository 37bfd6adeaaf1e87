#pragma once
#include "attn/cuda/attention/tiles.cuh"

namespace attn::kernels {

/// Warpgroups per block, limited by the registers of a multiprocessor.
inline constexpr unsigned kKeyGroups = 2;

/// Computes dK and dV of 64 keys per warpgroup. Rows are keys, columns are queries.
template <int Slices, bool Drop>
__global__ void __launch_bounds__(128 * kKeyGroups, 1)
    attention_dkv(const AttentionGradientArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks,
                  const QueryStatistics statistics) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  constexpr int kSlot = Slices * kTile;
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const AttentionTask<bfloat16> task(forward, blocks);
  const int groups = static_cast<int>(blockDim.x) / 128, first = task.block * groups * kRows;
  if (first >= task.keys) return;
  const ThreadPosition at;
  const int mine = first + at.group * kRows;  // this warpgroup's first key
  const bool busy = mine < task.keys;
  const int start = task.first_to_see(first) / kRows;                    // the first tile whose queries see any of the keys
  const int tiles = max((task.queries + kRows - 1) / kRows, start + 1);  // at least one, so that a product sets dK and dV

  bfloat16* const queries = attention_tiles;                             // three slots
  bfloat16* const gradients = queries + 3 * kSlot;                       // dY: three slots
  bfloat16* const keys = gradients + 3 * kSlot;                          // one per warpgroup
  bfloat16* const values = keys + groups * kSlot;                        // one per warpgroup
  auto* const lse = reinterpret_cast<float*>(values + groups * kSlot);   // three slots of 64
  float* const delta = lse + 3 * kRows;                                  // three slots of 64
  auto* const random = reinterpret_cast<RandomKey*>(delta + 3 * kRows);  // three slots of 64, with dropout
  bfloat16 *const own_keys = keys + at.group * kSlot, *const own_values = values + at.group * kSlot;

  const auto fill_queries = [&](int tile, int slot) {
    const int row = tile * kRows, thread = static_cast<int>(threadIdx.x), query = row + thread % kRows;
    fill<Slices>(queries + slot * kSlot, forward.q, task.first_query + row, task.queries - row, task);
    fill<Slices>(gradients + slot * kSlot, args.dy, task.first_query + row, task.queries - row, task);
    if (thread >= 2 * kRows) return;
    float* const to = (thread < kRows ? lse : delta) + slot * kRows + thread % kRows;
    const float* const from = thread < kRows ? statistics.lse : statistics.delta;
    if (query < task.queries)
      copy_word(to, from + task.head * forward.q.rows + task.first_query + query);
    else
      *to = thread < kRows ? INFINITY : 0;  // weights of a missing query are 0
    if (Drop && thread < kRows) random[slot * kRows + thread] = task.random_key(forward, query);
  };
  for (int g = 0; g < groups; ++g) {
    const int row = first + g * kRows;
    fill<Slices>(keys + g * kSlot, forward.k, task.first_key + row, task.keys - row, task);
    fill<Slices>(values + g * kSlot, forward.v, task.first_key + row, task.keys - row, task);
  }
  fill_queries(start, start % 3);
  close_copies();

  const int first_seer[2] = {task.first_to_see(mine + at.row(0)), task.first_to_see(mine + at.row(1))};
  const int all_see = task.first_to_see(mine + kRows - 1);  // queries from here on see every key of the warpgroup
  const auto scale = static_cast<float>(forward.scale * kLog2E);
  const Dropout::Row dropout = forward.dropout.row(0);
  std::uint32_t weights[4][4];
  float dk[Slices][32], dv[Slices][32];

  const auto fill_next = [&](int tile) {
    if (tile + 1 < tiles) fill_queries(tile + 1, (tile + 1) % 3);
    close_copies();
  };
  if (!busy) {
    for (int tile = start; tile < tiles; ++tile) wait_for_tile(), fill_next(tile);
    return;
  }
  int tile = start;
  do {
    wait_for_tile();
    const int now = tile % 3;
    const bfloat16 *q = queries + now * kSlot, *dy = gradients + now * kSlot;
    float s[32], dp[32];
    begin_products();
    multiply_rows<Slices>(s, own_keys, q);
    close_products();
    multiply_rows<Slices>(dp, own_values, dy);
    close_products();
    fill_next(tile);
    wait_for_products<1>();  // S, and dK and dV of the previous tile
    settle(s);
    if (tile * kRows < all_see)
      unrolled<32>([&](int i) {
        if (tile * kRows + at.col(i / 4) + i % 2 < first_seer[i / 2 % 2]) s[i] = -INFINITY;
      });
    std::uint32_t dropped = 0;
    unrolled<8>([&](int j) {
      const float2 two = *reinterpret_cast<const float2*>(lse + now * kRows + at.col(j));
#pragma unroll
      for (int i = 4 * j; i < 4 * j + 4; ++i) {
        s[i] = power_of_2(fmaf(s[i], scale, -(i % 2 == 0 ? two.x : two.y)));
        if (Drop && random_bits(random[now * kRows + at.col(j) + i % 2],
                                static_cast<std::uint32_t>(mine + at.row(i / 2 % 2))) < dropout.threshold)
          dropped |= 1U << i;
      }
    });
    if (Drop) {
      unrolled<4, 4>([&](int k, int i) {
        const int c = 8 * k + 2 * i;
        weights[k][i] = pair(dropped >> c & 1U ? 0 : s[c], dropped >> (c + 1) & 1U ? 0 : s[c + 1]);
      });
    } else {
      round_rows(weights, s);
    }
    settle(weights);
    begin_products();
    multiply_columns<Slices>(dv, weights, dy, tile > start);
    close_products();
    wait_for_products<1>();  // dP
    settle(dp);
    unrolled<8>([&](int j) {
      const float2 two = *reinterpret_cast<const float2*>(delta + now * kRows + at.col(j));
#pragma unroll
      for (int i = 4 * j; i < 4 * j + 4; ++i) {
        if (Drop) dp[i] = dropped >> i & 1U ? 0 : dp[i] * dropout.scale;
        s[i] *= dp[i] - (i % 2 == 0 ? two.x : two.y);
      }
    });
    wait_for_products<0>();  // dV: its weights may be overwritten
    round_rows(weights, s);
    settle(weights);
    begin_products();
    multiply_columns<Slices>(dk, weights, q, tile > start);
    close_products();
  } while (++tile < tiles);
  wait_for_copies<0>();
  wait_for_products<0>();
  settle(dk);
  settle(dv);
  const float of_dk = static_cast<float>(forward.scale), of_dv = Drop ? dropout.scale : 1;
  const int rows = task.keys - mine;
  store_rows<Slices>(task.key(args.dk.to, mine), args.dk.to.stride, args.dk.add, rows, task.width, dk, {of_dk, of_dk},
                     own_keys, at);
  store_rows<Slices>(task.key(args.dv.to, mine), args.dv.to.stride, args.dv.add, rows, task.width, dv, {of_dv, of_dv},
                     own_values, at);
#endif
}

}  // namespace attn::kernels
