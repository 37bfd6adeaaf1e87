#pragma once
#include "attn/cuda/attention/mma_tiles.cuh"

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

/// Computes dK and dV of 64 * M keys. Rows are keys, columns are queries.
template <int W, int M, bool Drop>
__global__ void __launch_bounds__(kMmaThreads, 2)
    mma_attention_dkv(const AttentionGradientArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks,
                      const QueryStatistics statistics) {
  if (!is_mma_launched<W>()) return;
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  using Layout = MmaLayout<W, M, 2, 2>;
  constexpr int kColumns = W < kMmaColumns ? W : kMmaColumns;  // of dK and dV, from column blockIdx.y * kColumns on
  constexpr int kQueries = kMmaTile<W>, kStep = M * W >= 128 ? 16 : 32;  // queries per tile, per step
  constexpr int kNumbers = kStep / 2, kUnroll = M == 1 ? 2 : 1;          // elements per lane and step; steps
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const AttentionTask<bfloat16> task(forward, blocks);
  const int first = task.block * 64 * M;
  if (first >= task.keys) return;
  const MmaPosition at;
  const int own = at.warp * 16 * M, mine = first + own;   // the warp's first row in the block, in the sentence
  const int start = task.first_to_see(first) / kQueries;  // the first tile with a query that sees any key of the block
  const int tiles = (task.queries + kQueries - 1) / kQueries;

  auto* const lse = reinterpret_cast<float*>(attention_tiles + Layout::size);  // two slots
  float* const delta = lse + 2 * kQueries;                                     // two slots
  auto* const random = reinterpret_cast<RandomKey*>(delta + 2 * kQueries);     // two slots, with dropout
  bfloat16 *const keys = attention_tiles + Layout::own_at, *const values = keys + Layout::own;

  const auto fill_slot = [&](int tile, int number) {
    const int row = tile * kQueries, thread = static_cast<int>(threadIdx.x);
    bfloat16* const slot = attention_tiles + number * Layout::slot;
    fill_swizzled<W, kQueries>(slot, forward.q, task.first_query + row, task.queries - row, task);
    fill_swizzled<W, kQueries>(slot + Layout::tile, args.dy, task.first_query + row, task.queries - row, task);
    if (thread < 2 * kQueries) {
      const bool of_lse = thread < kQueries;
      const int place = thread % kQueries, query = row + place;
      float* const to = (of_lse ? lse : delta) + number * kQueries + place;
      if (query < task.queries)
        copy_word(to, (of_lse ? statistics.lse : statistics.delta) + task.head * forward.q.rows + task.first_query + query);
      else
        *to = of_lse ? INFINITY : 0;  // weights of a missing query are 0
      if (Drop && of_lse) random[number * kQueries + place] = task.random_key(forward, query);
    }
    close_copies();
  };
  fill_swizzled<W, 64 * M>(keys, forward.k, task.first_key + first, task.keys - first, task);
  fill_swizzled<W, 64 * M>(values, forward.v, task.first_key + first, task.keys - first, task);
  close_copies();
  if (!Layout::overlaps_first && start < tiles) fill_slot(start, 0);

  const int diagonal = mine - causal_shift(task);  // the first query that sees the warp's first key, unless negative
  const auto scale = static_cast<float>(forward.scale * kLog2E);
  const Dropout::Row dropout = forward.dropout.row(0);
  const Lanes<W> lanes;

  // Where registers are scarce, K and V are partly read from their tiles; then no slot overlaps these.
  constexpr int kHeldK = W > 128 ? 2 : W / 16, kCaches = W > 128 ? 2
                                                                 : W / 16 - (M * W <= 64 ? 0
                                                                             : W == 96   ? 2
                                                                             : W == 64   ? 3
                                                                                         : 4);
  static_assert((kCaches == W / 16 || Layout::keeps(1)) && (kHeldK == W / 16 || Layout::keeps(0)));
  std::uint32_t k[M][kHeldK][4], v[M][kCaches][4];
  const std::uint32_t rest_k = shared_address(keys + own * W), rest = shared_address(values + own * W);
  const int col = W > kColumns ? static_cast<int>(blockIdx.y) * kColumns : 0;
  float dk[M][kColumns / 2] = {}, dv[M][kColumns / 2] = {};
  wait_for_own_copies<0>();
  __syncthreads();
  load_fragments<W>(k, keys, own);
  load_fragments<W>(v, values, own);
  if (Layout::overlaps_first && start < tiles) {
    __syncthreads();  // all warps have their rows in registers
    fill_slot(start, 0);
  }

  for (int tile = start, number = 0; tile < tiles; ++tile, number ^= 1) {
    wait_for_own_copies<0>();
    __syncthreads();  // the tile has arrived, and all warps are done with the previous one
    if (tile + 1 < tiles) fill_slot(tile + 1, number ^ 1);
    const std::uint32_t queries = shared_address(attention_tiles + number * Layout::slot),
                        gradients = queries + Layout::tile * 2;
    const int slot_row = number * kQueries;
#pragma unroll kUnroll
    for (int step = 0; step < kQueries; step += kStep) {
      const int query = tile * kQueries + step;
      if (query + kStep <= diagonal) continue;
      float s[M][kNumbers], dp[M][kNumbers];
      mma_rows<W, M>(s, k, lanes, queries, step, rest_k);
      mma_rows<W, M>(dp, v, lanes, gradients, step, rest);
      if (query < diagonal + 16 * M - 1)
        unrolled<M, kNumbers>([&](int m, int i) {
          if (query + at.col(i) < diagonal + at.row(m, i / 2 % 2)) s[m][i] = -INFINITY;
        });

      // Weights first: their product runs while their gradients are computed.
      std::uint32_t a[M][kStep / 16][4];
      [[maybe_unused]] std::uint32_t dropped[M] = {};
      unrolled<kStep / 8>([&](int j) {
        const int place = slot_row + step + at.col(4 * j);
        const float2 base = *reinterpret_cast<const float2*>(lse + place);
        unrolled<4>([&](int i) {
          const RandomKey key = Drop ? random[place + i % 2] : RandomKey{};
          unrolled<M>([&](int m) {
            float& x = s[m][4 * j + i];
            x = power_of_2(fmaf(x, scale, -(i % 2 == 0 ? base.x : base.y)));
            if (Drop && random_bits(key, static_cast<std::uint32_t>(mine + at.row(m, i / 2))) < dropout.threshold)
              dropped[m] |= 1U << (4 * j + i);
          });
        });
      });
      const auto kept = [&](int m, int i, float x) { return Drop && dropped[m] >> i & 1U ? 0 : x; };
      unrolled<M>([&](int m) {
#pragma unroll
        for (int i = 0; i < kNumbers; i += 2)
          a[m][i / 8][i / 2 % 4] = pair(kept(m, i, s[m][i]), kept(m, i + 1, s[m][i + 1]));
      });
      mma_columns<W, M>(dv, a, lanes, gradients + col * 2, step);
      unrolled<kStep / 8>([&](int j) {
        const float2 mean = *reinterpret_cast<const float2*>(delta + slot_row + step + at.col(4 * j));
        unrolled<M>([&](int m) {
#pragma unroll
          for (int i = 4 * j; i < 4 * j + 4; ++i)
            s[m][i] *= kept(m, i, Drop ? dp[m][i] * dropout.scale : dp[m][i]) - (i % 2 == 0 ? mean.x : mean.y);
        });
      });
      round_all(a, s);
      mma_columns<W, M>(dk, a, lanes, queries + col * 2, step);
    }
  }
  __syncthreads();  // all tiles are free

  if (mine >= task.keys) return;
  float of_dk[M][2], of_dv[M][2];
  unrolled<M>([&](int m) {
    of_dk[m][0] = of_dk[m][1] = static_cast<float>(forward.scale);
    of_dv[m][0] = of_dv[m][1] = Drop ? dropout.scale : 1;
  });
  const int rows = task.keys - mine, cols = task.width - col;
  bfloat16* const tile = attention_tiles + own * kColumns;
  store_swizzled<kColumns, M>(task.key(args.dk.to, mine) + col, args.dk.to.stride, args.dk.add, rows, cols, dk, of_dk,
                              tile);
  store_swizzled<kColumns, M>(task.key(args.dv.to, mine) + col, args.dv.to.stride, args.dv.add, rows, cols, dv, of_dv,
                              tile);
}

}  // namespace attn::kernels
