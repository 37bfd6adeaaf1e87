#pragma once
#include "attn/cuda/attention/online_softmax.cuh"

namespace attn {
namespace kernels {

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

}  // namespace attn
