#pragma once
#include "attn/cuda/attention/mma_tiles.cuh"
#include "attn/cuda/attention/online_softmax.cuh"

namespace attn {
namespace kernels {

/// Computes Y and the log-sum-exps of 64 * M queries.
template <class T, int W, int M, bool Drop>
__global__ void __launch_bounds__(kMmaThreads, M == 2 || W > 96 ? 2 : 3)
    mma_attention_forward(const AttentionArgs<Cuda<T>> args, const AttentionBlocks blocks) {
  if (!is_mma_launched<T, W>()) return;
  extern __shared__ __align__(1024) unsigned char mma_shared[];
  constexpr int kKeys = kMmaTile<T, W>, kTileSize = kKeys * W, kSlot = 2 * kTileSize;
  T *const slots = reinterpret_cast<T*>(mma_shared), *const queries = slots + 2 * kSlot;  // slots of keys and values

  const QueryTask task(args, blocks, 64 * M);
  const int first = task.first;
  if (first >= task.queries) return;
  const MmaPosition at;
  const int own = at.warp * 16 * M, mine = first + own;  // the warp's first row in the block, in the sentence
  const int tiles = (task.seen + kKeys - 1) / kKeys;

  const auto fill_slot = [&](int tile) {
    T* const slot = slots + tile % 2 * kSlot;
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
  const Lanes<T, W> lanes;

  constexpr int kCaches = W > 128 ? 4 : W / kMmaDepth<T>;  // fragments of Q that stay in registers
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
    const std::uint32_t keys = shared_address(slots + tile % 2 * kSlot);
    float s[M][kKeys / 2];
    mma_rows(s, q, lanes, keys, 0, shared_address(queries + own * W));
    const bool masked = key + kKeys > task.keys || key + kKeys - 1 > diagonal;
    std::uint32_t p[M][kKeys / kMmaDepth<T>][4];
    unrolled<M>([&](int m) {
      if (masked)
        unrolled<kKeys / 2>([&](int i) {
          // Keys of the tile that the row sees.
          const int limit = min(task.keys - key, diagonal + at.row(m, i / 2 % 2) + 1 - key);
          if (at.col(i) >= limit) s[m][i] = -INFINITY;
        });
      const bool moved = softmax[m].step(s[m]);
      if (Drop)
        unrolled<kKeys / 2>([&](int i) {
          if (random_bits(random[m][i / 2 % 2], static_cast<std::uint32_t>(key + at.col(i))) < dropout.threshold)
            s[m][i] = 0;
        });
      unrolled<kKeys / kMmaDepth<T>>([&](int k) { round_to_operand<T>(p[m][k], s[m], k); });
      if (moved) unrolled<W / 2>([&](int i) { y[m][i] *= softmax[m].shrink[i / 2 % 2]; });
    });
    mma_columns(y, p, lanes, keys + kTileSize * sizeof(T), 0);
  }
  wait_for_own_copies<0>();
  __syncthreads();  // the queries' tile is free

  float factor[M][2];
  unrolled<M, 2>([&](int m, int half) {
    const float sum = quad_sum(softmax[m].sum[half]);
    const int query = mine + at.row(m, half);
    factor[m][half] = sum > 0 ? (Drop ? dropout.scale : 1) / sum : 0;  // 0: the query sees no key
    if (at.lane % 4 == 0 && query < task.queries)
      args.lse[task.statistic(query, args.heads)] = softmax[m].log_sum(half, sum);
  });
  if (mine < task.queries)
    store_swizzled<W, M>(task.query(args.y, mine), args.y.stride, false, task.queries - mine, task.width, y, factor,
                         queries + own * W);
}

}  // namespace kernels

template <class T>
void mma_attention_forward(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const bool is_long = args.queries.rows > 256 * args.queries.count;
  with_mma_shape<T, 64>(args.q.cols / args.heads, is_long, args.dropout.active(), [&]<int W, int M, bool Drop>() {
    const kernels::AttentionBlocks blocks(args, args.queries, 64 * M);
    constexpr std::size_t shared = (4 * kernels::kMmaTile<T, W> + 64 * M) * W * sizeof(T);
    static_assert(shared <= kSharedEverywhere);
    launch(device, "attention", {blocks.all, kernels::kMmaThreads, shared}, kernels::mma_attention_forward<T, W, M, Drop>,
           args, blocks);
  });
}

}  // namespace attn
