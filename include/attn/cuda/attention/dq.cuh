#pragma once
#include "attn/cuda/attention/tile_feed.cuh"

namespace attn::kernels {

/// Warpgroups that multiply in a block for long sentences, limited by registers.
template <int Slices>
inline constexpr int kQueryGroups = Slices == 1 ? 3 : 2;
template <int Slices, int Groups>
using QueryLayout = FeedLayout<Slices, Groups, 1, 3, false>;

/// Computes dQ of 64 queries per warpgroup, and the statistics.
template <int Slices, bool Drop, int Groups>
__global__ void __launch_bounds__(QueryLayout<Slices, Groups>::threads, Groups == 1 ? 4 - Slices : 1)
    attention_dq(const AttentionGradientArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks,
                 const QueryStatistics statistics) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  using Layout = QueryLayout<Slices, Groups>;
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const QueryTask task(forward, blocks, Groups * kRows);
  const int first = task.first;
  if (first >= task.queries) return;
  const ThreadPosition at;
  const int group = Groups == 1 ? 0 : at.group;
  const int busy = min((task.queries - first + kRows - 1) / kRows, Groups);            // warpgroups with queries
  const int mine = first + group * kRows;                                              // this warpgroup's first query
  const auto turns_for = [](int seen) { return max((seen + kRows - 1) / kRows, 1); };  // at least one, which sets dQ
  const int all_turns = turns_for(task.seen);

  bfloat16* const own = attention_tiles + Layout::own_at + group * 3 * Layout::own;           // Q
  bfloat16 *const own_gradients = own + Layout::own, *const results = own + 2 * Layout::own;  // dY, Y
  if (group < busy) {
    const auto fill_own = [&](bfloat16* to, const auto& from) {
      fill<Slices, 1>(to, from, task.first_query + mine, task.queries - mine, task);
    };
    fill_own(own, forward.q);
    fill_own(own_gradients, args.dy);
    if (all_turns > 1) fill_own(results, forward.y);
  }
  const auto fill_slot = [&](int turn) {
    const int row = turn * kRows;
    fill<Slices, 1>(attention_tiles + Layout::first(turn), forward.k, task.first_key + row, task.keys - row, task);
    fill<Slices, 1>(attention_tiles + Layout::second(turn), forward.v, task.first_key + row, task.keys - row, task);
  };
  const TileFeed<Groups, Layout::slots, decltype(fill_slot)> feed(attention_tiles + Layout::barriers_at, all_turns, busy,
                                                                  fill_slot);
  if (Groups > 1 && group == Groups) return feed.copy_all();
  feed.begin();
  if (group >= busy) return;

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
  const int turns = Groups == 1 ? all_turns : turns_for(task.visible(min(mine + kRows, task.queries) - 1));
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
  feed.wait_for_own(group);
  if (all_turns > 1) {
    std::uint32_t y[4 * Slices][4], dy[4 * Slices][4];
    load_rows<Slices>(y, results, at.warp);
    load_rows<Slices>(dy, own_gradients, at.warp);
    unrolled<4 * Slices, 4>([&](int k, int i) { delta[i % 2] = dot(y[k][i], dy[k][i], delta[i % 2]); });
    note_statistics();
  }

  int turn = 0;
  do {
    feed.wait(turn);
    const bfloat16 *const k = attention_tiles + Layout::first(turn), *const v = attention_tiles + Layout::second(turn);
    float s[32], dp[32];
    begin_products();
    multiply_rows<Slices>(s, own, k);
    close_products();
    multiply_rows<Slices>(dp, own_gradients, v);
    close_products();
    feed.copy_after(turn);
    wait_for_products<1>();  // S, and dQ of the previous turn
    settle(s);
    if (turn > 0) feed.release(turn - 1);
    if ((turn + 1) * kRows > all_visible)
      unrolled<32>([&](int i) {
        if (turn * kRows + at.col(i / 4) + i % 2 >= visible[i / 2 % 2]) s[i] = -INFINITY;
      });
    std::uint32_t dropped = 0;
    unrolled<32>([&](int i) {
      s[i] = power_of_2(fmaf(s[i], scale, -lse[i / 2 % 2]));
      const auto key = static_cast<std::uint32_t>(turn * kRows + at.col(i / 4) + i % 2);
      if (Drop && random_bits(random[i / 2 % 2], key) < dropout.threshold) dropped |= 1U << i;
    });
    wait_for_products<0>();
    settle(dp);
    unrolled<32>([&](int i) {
      if (Drop) dp[i] = dropped >> i & 1U ? 0 : dp[i] * dropout.scale;
    });
    if (all_turns == 1) {
      unrolled<32>([&](int i) { delta[i / 2 % 2] = fmaf(s[i], dp[i], delta[i / 2 % 2]); });
      note_statistics();
    }
    unrolled<32>([&](int i) { s[i] *= dp[i] - delta[i / 2 % 2]; });
    round_rows(rounded, s);
    settle(rounded);
    begin_products();
    multiply_columns<Slices>(dq, rounded, k, turn > 0);
    close_products();
  } while (++turn < turns);
  wait_for_products<0>();
  settle(dq);
  feed.release(turns - 1);
  feed.skip(turns, all_turns);
  const auto factor = static_cast<float>(forward.scale);
  store_rows<Slices>(task.query(args.dq.to, mine), args.dq.to.stride, args.dq.add, task.queries - mine, task.width, dq,
                     {factor, factor}, own, at);
#endif
}

}  // namespace attn::kernels
