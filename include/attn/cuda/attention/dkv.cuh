#pragma once
#include "attn/cuda/attention/tile_feed.cuh"

namespace attn::kernels {

/// Warpgroups that multiply in a block for long sentences, limited by registers.
template <int Slices>
inline constexpr int kKeyGroups = Slices == 1 ? 2 : 1;
template <int Slices, int Groups>
using KeyLayout = FeedLayout<Slices, Groups, 1, 2, false>;

/// Computes dK and dV of 64 keys per warpgroup. Rows are keys, columns are queries.
template <int Slices, bool Drop, int Groups>
__global__ void __launch_bounds__(KeyLayout<Slices, Groups>::threads, Groups == 1 ? 2 : 1)
    attention_dkv(const AttentionGradientArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks,
                  const QueryStatistics statistics) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  using Layout = KeyLayout<Slices, Groups>;
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const AttentionTask<bfloat16> task(forward, blocks);
  const int first = task.block * Groups * kRows;
  if (first >= task.keys) return;
  const ThreadPosition at;
  const int group = Groups == 1 ? 0 : at.group;
  const int busy = min((task.keys - first + kRows - 1) / kRows, Groups);  // warpgroups with keys
  const int mine = first + group * kRows;                                 // this warpgroup's first key
  // Turns count from the first tile whose queries see any of the block's keys. At least one, which sets dK and dV.
  const int start = task.first_to_see(first) / kRows;
  const int turns = max((task.queries + kRows - 1) / kRows - start, 1);

  bfloat16* const own_keys = attention_tiles + Layout::own_at + group * 2 * Layout::own;
  bfloat16* const own_values = own_keys + Layout::own;
  auto* const lse = reinterpret_cast<float*>(attention_tiles + Layout::size);        // 64 per slot
  float* const delta = lse + Layout::slots * kRows;                                  // 64 per slot
  auto* const random = reinterpret_cast<RandomKey*>(delta + Layout::slots * kRows);  // 64 per slot, with dropout

  if (group < busy) {
    fill<Slices, 1>(own_keys, forward.k, task.first_key + mine, task.keys - mine, task);
    fill<Slices, 1>(own_values, forward.v, task.first_key + mine, task.keys - mine, task);
  }
  const auto fill_slot = [&](int turn) {
    const int row = (start + turn) * kRows, thread = static_cast<int>(threadIdx.x) % 128, query = row + thread % kRows;
    const int slot = turn % Layout::slots;
    fill<Slices, 1>(attention_tiles + Layout::first(turn), forward.q, task.first_query + row, task.queries - row, task);
    fill<Slices, 1>(attention_tiles + Layout::second(turn), args.dy, task.first_query + row, task.queries - row, task);
    float* const number = (thread < kRows ? lse : delta) + slot * kRows + thread % kRows;
    const float* const from = thread < kRows ? statistics.lse : statistics.delta;
    if (query < task.queries)
      copy_word(number, from + task.head * forward.q.rows + task.first_query + query);
    else
      *number = thread < kRows ? INFINITY : 0;  // weights of a missing query are 0
    if (Drop && thread < kRows) random[slot * kRows + thread] = task.random_key(forward, query);
  };
  const TileFeed<Groups, Layout::slots, decltype(fill_slot)> feed(attention_tiles + Layout::barriers_at, turns, busy,
                                                                  fill_slot);
  if (Groups > 1 && group == Groups) return feed.copy_all();
  feed.begin();
  if (group >= busy) return;

  const int first_seer[2] = {task.first_to_see(mine + at.row(0)), task.first_to_see(mine + at.row(1))};
  const int all_see = task.first_to_see(mine + kRows - 1);  // queries from here on see every key of the warpgroup
  const auto scale = static_cast<float>(forward.scale * kLog2E);
  const Dropout::Row dropout = forward.dropout.row(0);
  std::uint32_t weights[4][4];
  float dk[Slices][32], dv[Slices][32];

  feed.wait_for_own(group);
  // The first turn that sees any own key.
  const int begin = Groups == 1 ? 0 : min(task.first_to_see(mine) / kRows - start, turns - 1);
  feed.skip(0, begin);
  int turn = begin;
  do {
    feed.wait(turn);
    const int now = turn % Layout::slots, query = (start + turn) * kRows;
    const bfloat16 *const q = attention_tiles + Layout::first(turn), *const dy = attention_tiles + Layout::second(turn);
    float s[32], dp[32];
    begin_products();
    multiply_rows<Slices>(s, own_keys, q);
    close_products();
    multiply_rows<Slices>(dp, own_values, dy);
    close_products();
    feed.copy_after(turn);
    wait_for_products<1>();  // S, and dK of the previous turn
    settle(s);
    if (turn > begin) feed.release(turn - 1);
    if (query < all_see)
      unrolled<32>([&](int i) {
        if (query + at.col(i / 4) + i % 2 < first_seer[i / 2 % 2]) s[i] = -INFINITY;
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
    if (Drop) settle(dropped);  // else the compiler keeps the random numbers, which need more registers
    settle(weights);
    begin_products();
    multiply_columns<Slices>(dv, weights, dy, turn > begin);
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
    multiply_columns<Slices>(dk, weights, q, turn > begin);
    close_products();
  } while (++turn < turns);
  wait_for_products<0>();
  settle(dk);
  settle(dv);
  feed.release(turns - 1);
  const float of_dk = static_cast<float>(forward.scale), of_dv = Drop ? dropout.scale : 1;
  const int rows = task.keys - mine;
  store_rows<Slices>(task.key(args.dk.to, mine), args.dk.to.stride, args.dk.add, rows, task.width, dk, {of_dk, of_dk},
                     own_keys, at);
  store_rows<Slices>(task.key(args.dv.to, mine), args.dv.to.stride, args.dv.add, rows, task.width, dv, {of_dv, of_dv},
                     own_values, at);
#endif
}

}  // namespace attn::kernels
