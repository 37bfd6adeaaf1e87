#pragma once
#include "attn/cuda/attention/mma_tiles.cuh"

namespace attn::kernels {

/// Computes dK and dV of 64 * M keys. Rows are keys, columns are queries.
template <class T, int W, int M, bool Drop>
__global__ void __launch_bounds__(kMmaThreads, 2)
    mma_attention_dkv(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks,
                      const QueryStatistics statistics) {
  if (!is_mma_launched<T, W>()) return;
  extern __shared__ __align__(1024) unsigned char mma_shared[];
  using Layout = MmaLayout<T, W, M, 2, 2>;
  constexpr int kColumns = W < kMmaColumns ? W : kMmaColumns;  // of dK and dV, from column blockIdx.y * kColumns on
  constexpr int kQueries = kMmaTile<T, W>, kStep = M * W * sizeof(T) >= 256 ? 16 : 32;  // queries per tile, per step
  constexpr int kNumbers = kStep / 2, kUnroll = M == 1 ? 2 : 1;                         // elements per lane and step; steps
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const AttentionTask<T> task(forward, blocks);
  const int first = task.block * 64 * M;
  if (first >= task.keys) return;
  const MmaPosition at;
  const int own = at.warp * 16 * M, mine = first + own;   // the warp's first row in the block, in the sentence
  const int start = task.first_to_see(first) / kQueries;  // the first tile with a query that sees any key of the block
  const int tiles = (task.queries + kQueries - 1) / kQueries;

  T* const slots = reinterpret_cast<T*>(mma_shared);
  auto* const lse = reinterpret_cast<float*>(slots + Layout::size);         // two slots
  float* const delta = lse + 2 * kQueries;                                  // two slots
  auto* const random = reinterpret_cast<RandomKey*>(delta + 2 * kQueries);  // two slots, with dropout
  T *const keys = slots + Layout::own_at, *const values = keys + Layout::own;

  const auto fill_slot = [&](int tile, int number) {
    const int row = tile * kQueries, thread = static_cast<int>(threadIdx.x);
    T* const slot = slots + number * Layout::slot;
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
  const Lanes<T, W> lanes;

  // Where registers are scarce, K and V are partly read from their tiles; then no slot overlaps these.
  constexpr bool kTf32 = std::is_same_v<T, float>;
  constexpr int kFragments = W / kMmaDepth<T>, kHeldK = W > 128 ? 2 : kTf32 && W > 96 ? 8 : kFragments;
  constexpr int kCaches = M * W <= 64 ? kFragments : W > 128 ? 2 : W == 96 ? (kTf32 ? 6 : 4) : W == 64 ? 1 : 4;
  static_assert((kCaches == kFragments || Layout::keeps(1)) && (kHeldK == kFragments || Layout::keeps(0)));
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
    const std::uint32_t queries = shared_address(slots + number * Layout::slot),
                        gradients = queries + Layout::tile * sizeof(T);
    const int slot_row = number * kQueries;
#pragma unroll kUnroll
    for (int step = 0; step < kQueries; step += kStep) {
      const int query = tile * kQueries + step;
      if (query + kStep <= diagonal) continue;
      float s[M][kNumbers], dp[M][kNumbers];
      mma_rows(s, k, lanes, queries, step, rest_k);
      mma_rows(dp, v, lanes, gradients, step, rest);
      if (query < diagonal + 16 * M - 1)
        unrolled<M, kNumbers>([&](int m, int i) {
          if (query + at.col(i) < diagonal + at.row(m, i / 2 % 2)) s[m][i] = -INFINITY;
        });

      // Weights first: their product runs while their gradients are computed.
      std::uint32_t a[M][kStep / kMmaDepth<T>][4];
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
      float weights[M][kNumbers];
      unrolled<M, kNumbers>([&](int m, int i) { weights[m][i] = kept(m, i, s[m][i]); });
      round_all<T>(a, weights);
      mma_columns(dv, a, lanes, gradients + col * sizeof(T), step);
      unrolled<kStep / 8>([&](int j) {
        const float2 mean = *reinterpret_cast<const float2*>(delta + slot_row + step + at.col(4 * j));
        unrolled<M>([&](int m) {
#pragma unroll
          for (int i = 4 * j; i < 4 * j + 4; ++i)
            s[m][i] *= kept(m, i, Drop ? dp[m][i] * dropout.scale : dp[m][i]) - (i % 2 == 0 ? mean.x : mean.y);
        });
      });
      round_all<T>(a, s);
      mma_columns(dk, a, lanes, queries + col * sizeof(T), step);
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
  T* const tile = slots + own * kColumns;
  store_swizzled<kColumns, M>(task.key(args.dk.to, mine) + col, args.dk.to.stride, args.dk.add, rows, cols, dk, of_dk,
                              tile);
  store_swizzled<kColumns, M>(task.key(args.dv.to, mine) + col, args.dv.to.stride, args.dv.add, rows, cols, dv, of_dv,
                              tile);
}

}  // namespace attn::kernels
