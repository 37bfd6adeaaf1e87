#pragma once
#include "attn/cuda/attention/mma_tiles.cuh"

namespace attn {
namespace kernels {

/// Online softmax of score rows: the running maximum, and the sum of the weights relative to it. Each thread has two rows;
/// until the end `sum` covers only the thread's own columns.
struct OnlineSoftmax {
  float scale;  // score scale times log2(e)
  float most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  float shrink[2];  // factor of the newest tile for the weights of earlier tiles

  /// Replaces scores by weights.
  template <int N>
  __device__ void step(float (&s)[N]) {
    unrolled<2>([&](int half) {
      float top = most[half];
      unrolled<N / 4>([&](int j) { top = fmaxf(top, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1])); });
      top = quad_max(top);
      const float base = top == -INFINITY ? 0 : top * scale;  // -inf: no visible key yet
      shrink[half] = power_of_2(most[half] * scale - base);
      most[half] = top;
      float total[2] = {};
      unrolled<N / 4, 2>([&](int j, int i) {
        float& x = s[4 * j + 2 * half + i];
        x = power_of_2(fmaf(x, scale, -base));
        total[i] += x;
      });
      sum[half] = sum[half] * shrink[half] + (total[0] + total[1]);
    });
  }
};

/// Computes Y and the log-sum-exps of 64 queries per warpgroup. The score product of a tile overlaps the value product of
/// the previous tile and the copies of the next tile.
template <int Slices, bool Drop>
__global__ void __launch_bounds__(256, Slices == 1 ? 2 : 1)
    attention_forward(const AttentionArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  constexpr int kSlot = Slices * kTile;
  bfloat16* const keys = attention_tiles;        // two slots, used alternately
  bfloat16* const values = keys + 2 * kSlot;     // two slots
  bfloat16* const queries = values + 2 * kSlot;  // one per warpgroup

  const int groups = static_cast<int>(blockDim.x) / 128;
  const QueryTask task(args, blocks, groups * kRows);
  const int first = task.first;
  if (first >= task.queries) return;
  const ThreadPosition at;
  const int mine = first + at.group * kRows;  // this warpgroup's first query
  const bool busy = mine < task.queries;
  const int tiles = max((task.seen + kRows - 1) / kRows, 1);
  bfloat16* const own = queries + at.group * kSlot;

  const auto fill_keys = [&](int tile) {
    fill<Slices>(keys + tile % 2 * kSlot, args.k, task.first_key + tile * kRows, task.keys - tile * kRows, task);
  };
  const auto fill_values = [&](int tile) {
    fill<Slices>(values + tile % 2 * kSlot, args.v, task.first_key + tile * kRows, task.keys - tile * kRows, task);
  };
  for (int g = 0; g < groups; ++g) {
    const int query = first + g * kRows;
    fill<Slices>(queries + g * kSlot, args.q, task.first_query + query, task.queries - query, task);
  }
  fill_keys(0);
  close_copies();
  fill_values(0);
  if (tiles > 1) fill_keys(1);
  close_copies();

  const int visible[2] = {task.visible(mine + at.row(0)), task.visible(mine + at.row(1))};
  const int all_visible = task.visible(mine);  // keys that every row of the warpgroup sees
  RandomKey random[2];
  if (Drop)
    for (int half = 0; half < 2; ++half) random[half] = task.random_key(args, mine + at.row(half));
  const Dropout::Row dropout = args.dropout.row(0);

  std::uint32_t q[4 * Slices][4], p[4][4];
  float y[Slices][32];
  OnlineSoftmax softmax{static_cast<float>(args.scale * kLog2E)};
  const auto weigh = [&](float(&s)[32], int tile) {
    if ((tile + 1) * kRows > all_visible)
      unrolled<32>([&](int i) {
        if (tile * kRows + at.col(i / 4) + i % 2 >= visible[i / 2 % 2]) s[i] = -INFINITY;
      });
    softmax.step(s);
    if (Drop)
      unrolled<32>([&](int i) {
        if (random_bits(random[i / 2 % 2], static_cast<std::uint32_t>(tile * kRows + at.col(i / 4) + i % 2)) <
            dropout.threshold)
          s[i] = 0;
      });
  };

  wait_for_copies<1>();
  __syncthreads();
  if (busy) {
    load_rows<Slices>(q, own, at.warp);
    settle(q);
    float s[32];
    begin_products();
    multiply_rows<Slices>(s, q, keys);
    close_products();
    wait_for_products<0>();
    settle(s);
    weigh(s, 0);
    round_rows(p, s);
  }
  // A turn waits for its tile's keys and the previous tile's values.
  const auto fill_next = [&](int tile) {
    fill_values(tile);
    if (tile + 1 < tiles) fill_keys(tile + 1);
    close_copies();
  };
  if (!busy) {
    for (int tile = 1; tile < tiles; ++tile) wait_for_tile(), fill_next(tile);
    return wait_for_tile();
  }
  for (int tile = 1; tile < tiles; ++tile) {
    wait_for_tile();
    settle(p);
    settle(y);
    float s[32];
    begin_products();
    multiply_rows<Slices>(s, q, keys + tile % 2 * kSlot);
    close_products();
    multiply_columns<Slices>(y, p, values + (tile - 1) % 2 * kSlot, tile > 1);
    close_products();
    fill_next(tile);
    wait_for_products<1>();
    settle(s);
    weigh(s, tile);
    wait_for_products<0>();
    settle(y);
    unrolled<Slices, 32>([&](int slice, int i) { y[slice][i] *= softmax.shrink[i / 2 % 2]; });
    round_rows(p, s);
  }
  wait_for_tile();
  settle(p);
  settle(y);
  begin_products();
  multiply_columns<Slices>(y, p, values + (tiles - 1) % 2 * kSlot, tiles > 1);
  close_products();
  wait_for_products<0>();
  settle(y);

  float factor[2];
  for (int half = 0; half < 2; ++half) {
    const float sum = quad_sum(softmax.sum[half]);
    const int query = mine + at.row(half);
    factor[half] = sum > 0 ? (Drop ? dropout.scale : 1) / sum : 0;  // 0: no visible key
    if (at.lane % 4 == 0 && query < task.queries)
      args.lse[task.statistic(query, args.heads)] =
          sum > 0 ? (softmax.most[half] * softmax.scale + log2f(sum)) * kLn2 : -INFINITY;
  }
  store_rows<Slices>(task.query(args.y, mine), args.y.stride, false, task.queries - mine, task.width, y, factor, own, at);
#endif
}

/// Computes Y and the log-sum-exps of 64 * M queries.
template <int W, int M, bool Drop>
__global__ void __launch_bounds__(kMmaThreads, M == 2 || W > 96 ? 2 : 3)
    mma_attention_forward(const AttentionArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks) {
  if (!is_mma_launched<W>()) return;
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  constexpr int kKeys = kMmaTile<W>, kTileSize = kKeys * W, kSlot = 2 * kTileSize;
  bfloat16* const queries = attention_tiles + 2 * kSlot;  // after two slots of keys and values

  const QueryTask task(args, blocks, 64 * M);
  const int first = task.first;
  if (first >= task.queries) return;
  const MmaPosition at;
  const int own = at.warp * 16 * M, mine = first + own;  // the warp's first row in the block, in the sentence
  const int tiles = (task.seen + kKeys - 1) / kKeys;

  const auto fill_slot = [&](int tile) {
    bfloat16* const slot = attention_tiles + tile % 2 * kSlot;
    fill_swizzled<W, kKeys>(slot, args.k, task.first_key + tile * kKeys, task.keys - tile * kKeys, task);
    fill_swizzled<W, kKeys>(slot + kTileSize, args.v, task.first_key + tile * kKeys, task.keys - tile * kKeys, task);
    close_copies();
  };
  fill_swizzled<W, 64 * M>(queries, args.q, task.first_query + first, task.queries - first, task);
  close_copies();
  if (tiles > 0) fill_slot(0);

  RandomKey random[M][2];
  unrolled<M, 2>([&](int m, int half) {
    if (Drop) random[m][half] = task.random_key(args, mine + at.row(m, half));
  });
  const int diagonal = mine + causal_shift(task);  // the last key that the warp's first query sees, not clipped to the keys
  const Dropout::Row dropout = args.dropout.row(0);
  const Lanes<W> lanes;

  constexpr int kCaches = W > 128 ? 4 : W / 16;  // 16-column steps of Q that stay in registers
  std::uint32_t q[M][kCaches][4];
  float y[M][W / 2] = {};
  OnlineSoftmax softmax[M];
  unrolled<M>([&](int m) { softmax[m].scale = static_cast<float>(args.scale * kLog2E); });

  wait_for_own_copies<0>();
  __syncthreads();
  load_fragments<W>(q, queries, own);
  for (int tile = 0; tile < tiles; ++tile) {
    wait_for_own_copies<0>();
    __syncthreads();  // the tile has arrived, and all warps are done with the previous one
    if (tile + 1 < tiles) fill_slot(tile + 1);
    const int key = tile * kKeys;
    if (key > diagonal + 16 * M - 1) continue;
    const std::uint32_t keys = shared_address(attention_tiles + tile % 2 * kSlot);
    float s[M][kKeys / 2];
    mma_rows<W, M>(s, q, lanes, keys, 0, shared_address(queries + own * W));
    const bool masked = key + kKeys > task.keys || key + kKeys - 1 > diagonal;
    std::uint32_t p[M][kKeys / 16][4];
    unrolled<M>([&](int m) {
      if (masked)
        unrolled<kKeys / 2>([&](int i) {
          // Keys of the tile that the row sees.
          const int limit = min(task.keys - key, diagonal + at.row(m, i / 2 % 2) + 1 - key);
          if (at.col(i) >= limit) s[m][i] = -INFINITY;
        });
      softmax[m].step(s[m]);
      if (Drop)
        unrolled<kKeys / 2>([&](int i) {
          if (random_bits(random[m][i / 2 % 2], static_cast<std::uint32_t>(key + at.col(i))) < dropout.threshold)
            s[m][i] = 0;
        });
      unrolled<kKeys / 16>([&](int k) { round_to_a(p[m][k], s[m], k); });
      unrolled<W / 2>([&](int i) { y[m][i] *= softmax[m].shrink[i / 2 % 2]; });
    });
    mma_columns<W, M>(y, p, lanes, keys + kTileSize * 2, 0);
  }
  wait_for_own_copies<0>();
  __syncthreads();  // the queries' tile is free

  float factor[M][2];
  unrolled<M, 2>([&](int m, int half) {
    const float sum = quad_sum(softmax[m].sum[half]);
    const int query = mine + at.row(m, half);
    factor[m][half] = sum > 0 ? (Drop ? dropout.scale : 1) / sum : 0;  // 0: the query sees no key
    if (at.lane % 4 == 0 && query < task.queries)
      args.lse[task.statistic(query, args.heads)] =
          sum > 0 ? (softmax[m].most[half] * softmax[m].scale + log2f(sum)) * kLn2 : -INFINITY;
  });
  if (mine < task.queries)
    store_swizzled<W, M>(task.query(args.y, mine), args.y.stride, false, task.queries - mine, task.width, y, factor,
                         queries + own * W);
}

}  // namespace kernels

template <int Slices>
void attention_forward(Cuda<bfloat16>& device, const AttentionArgs<Cuda<bfloat16>>& args) {
  // Long sentences: two warpgroups share each tile of keys. Short sentences: many small blocks.
  const unsigned groups = args.queries.rows > 256 * args.queries.count ? 2 : 1;
  const kernels::AttentionBlocks blocks(args, args.queries, groups * kernels::kRows);
  const Spread spread{blocks.all, 128 * groups, (4 + groups) * Slices * kTile * sizeof(bfloat16)};
  launch(device, "attention", spread,
         args.dropout.active() ? kernels::attention_forward<Slices, true> : kernels::attention_forward<Slices, false>, args,
         blocks);
}

inline void mma_attention_forward(Cuda<bfloat16>& device, const AttentionArgs<Cuda<bfloat16>>& args) {
  const bool is_long = args.queries.rows > 256 * args.queries.count;
  with_mma_shape(args.q.cols / args.heads, is_long, args.dropout.active(), [&]<int W, int M, bool Drop>() {
    const kernels::AttentionBlocks blocks(args, args.queries, 64 * M);
    constexpr std::size_t shared = (4 * kernels::kMmaTile<W> + 64 * M) * W * sizeof(bfloat16);
    static_assert(shared <= kSharedEverywhere);
    launch(device, "attention", {blocks.all, kernels::kMmaThreads, shared}, kernels::mma_attention_forward<W, M, Drop>,
           args, blocks);
  });
}

}  // namespace attn
