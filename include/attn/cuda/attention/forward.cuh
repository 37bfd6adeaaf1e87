#pragma once
#include "attn/cuda/attention/online_softmax.cuh"
#include "attn/cuda/attention/tile_feed.cuh"

namespace attn {
namespace kernels {

/// Warpgroups that multiply in a block for long sentences, limited by registers, as is the number of keys per turn.
template <int Slices>
inline constexpr int kForwardGroups = Slices == 1 ? 3 : 2;
template <int Slices, int Groups>
using ForwardLayout = FeedLayout<Slices, Groups, (Groups > 1 && Slices == 1 ? 2 : 1), 1, true>;

/// Computes Y and the log-sum-exps of 64 queries per warpgroup. The score product of a turn overlaps the value product of the
/// previous turn.
template <int Slices, bool Drop, int Groups>
__global__ void __launch_bounds__(ForwardLayout<Slices, Groups>::threads, Groups == 1 ? 4 / Slices : 1)
    attention_forward(const AttentionArgs<Cuda<bfloat16>> args, const AttentionBlocks blocks) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) bfloat16 attention_tiles[];
  using Layout = ForwardLayout<Slices, Groups>;
  constexpr int kStep = Layout::tile / Slices / 64, kNumbers = kStep / 2;  // keys per turn; scores per thread
  constexpr bool kHeld = Groups == 1;                                      // whether Q stays in registers
  const QueryTask task(args, blocks, Groups * kRows);
  const int first = task.first;
  if (first >= task.queries) return;
  const ThreadPosition at;
  const int group = Groups == 1 ? 0 : at.group;
  const int busy = min((task.queries - first + kRows - 1) / kRows, Groups);  // warpgroups with queries
  const int mine = first + group * kRows;                                    // this warpgroup's first query
  const auto turns_for = [&](int seen) { return max((seen + kStep - 1) / kStep, 1); };
  const int all_turns = turns_for(task.seen);
  bfloat16* const own = attention_tiles + Layout::own_at + group * Layout::own;

  const auto fill_slot = [&](int turn) {
    const int row = turn * kStep;
    fill<Slices, kStep / 64>(attention_tiles + Layout::first(turn), args.k, task.first_key + row, task.keys - row, task);
    fill<Slices, kStep / 64>(attention_tiles + Layout::second(turn), args.v, task.first_key + row, task.keys - row, task);
  };
  if (group < busy) fill<Slices, 1>(own, args.q, task.first_query + mine, task.queries - mine, task);
  const TileFeed<Groups, Layout::slots, decltype(fill_slot)> feed(attention_tiles + Layout::barriers_at, all_turns, busy,
                                                                  fill_slot);
  if (Groups > 1 && group == Groups) return feed.copy_all();
  feed.begin();
  if (group >= busy) return;

  const int turns = Groups == 1 ? all_turns : turns_for(task.visible(min(mine + kRows, task.queries) - 1));
  const int visible[2] = {task.visible(mine + at.row(0)), task.visible(mine + at.row(1))};
  const int all_visible = task.visible(mine);  // keys that every row of the warpgroup sees
  RandomKey random[2];
  if (Drop)
    for (int half = 0; half < 2; ++half) random[half] = task.random_key(args, mine + at.row(half));
  const Dropout::Row dropout = args.dropout.row(0);

  std::uint32_t q[kHeld ? 4 * Slices : 1][4], p[kStep / 16][4];
  float y[Slices][32];
  OnlineSoftmax softmax{static_cast<float>(args.scale * kLog2E)};
  const auto score = [&](float(&s)[kNumbers], int turn) {
    const bfloat16* const keys = attention_tiles + Layout::first(turn);
    if constexpr (kHeld)
      multiply_rows<Slices>(s, q, keys);
    else
      multiply_rows<Slices>(s, own, keys);
    close_products();
  };
  const auto add_values = [&](int turn) {
    multiply_columns<Slices>(y, p, attention_tiles + Layout::second(turn), turn > 0);
    close_products();
  };
  const auto weigh = [&](float(&s)[kNumbers], int turn) {
    if ((turn + 1) * kStep > all_visible)
      unrolled<kNumbers>([&](int i) {
        if (turn * kStep + at.col(i / 4) + i % 2 >= visible[i / 2 % 2]) s[i] = -INFINITY;
      });
    const bool moved = softmax.step(s);
    if (Drop)
      unrolled<kNumbers>([&](int i) {
        if (random_bits(random[i / 2 % 2], static_cast<std::uint32_t>(turn * kStep + at.col(i / 4) + i % 2)) <
            dropout.threshold)
          s[i] = 0;
      });
    return moved;
  };

  feed.wait_for_own(group);
  if constexpr (kHeld) {
    load_rows<Slices>(q, own, at.warp);
    settle(q);
  }
  {
    feed.wait(0);
    float s[kNumbers];
    begin_products();
    score(s, 0);
    feed.copy_after(0);
    wait_for_products<0>();
    settle(s);
    weigh(s, 0);
    round_rows(p, s);
  }
  for (int turn = 1; turn < turns; ++turn) {
    feed.wait(turn);
    settle(p);
    settle(y);
    float s[kNumbers];
    begin_products();
    score(s, turn);
    add_values(turn - 1);
    feed.copy_after(turn);
    wait_for_products<1>();
    settle(s);
    const bool moved = weigh(s, turn);
    wait_for_products<0>();
    settle(y);
    feed.release(turn - 1);
    if (moved) unrolled<Slices, 32>([&](int slice, int i) { y[slice][i] *= softmax.shrink[i / 2 % 2]; });
    round_rows(p, s);
  }
  settle(p);
  settle(y);
  begin_products();
  add_values(turns - 1);
  wait_for_products<0>();
  settle(y);
  feed.release(turns - 1);
  feed.skip(turns, all_turns);

  float factor[2];
  for (int half = 0; half < 2; ++half) {
    const float sum = quad_sum(softmax.sum[half]);
    const int query = mine + at.row(half);
    factor[half] = sum > 0 ? (Drop ? dropout.scale : 1) / sum : 0;  // 0: no visible key
    if (at.lane % 4 == 0 && query < task.queries) args.lse[task.statistic(query, args.heads)] = softmax.log_sum(half, sum);
  }
  store_rows<Slices>(task.query(args.y, mine), args.y.stride, false, task.queries - mine, task.width, y, factor, own, at);
#endif
}

}  // namespace kernels

template <int Slices>
void attention_forward(Cuda<bfloat16>& device, const AttentionArgs<Cuda<bfloat16>>& args) {
  const auto launch_with = [&]<int Groups>(auto kernel) {
    using Layout = kernels::ForwardLayout<Slices, Groups>;
    const kernels::AttentionBlocks blocks(args, args.queries, Groups * kernels::kRows);
    launch(device, "attention", {blocks.all, Layout::threads, Layout::size * sizeof(bfloat16)}, kernel, args, blocks);
  };
  constexpr int kMany = kernels::kForwardGroups<Slices>;
  // Dropout's random numbers take the registers that the blocks of long sentences need.
  if (args.dropout.active()) return launch_with.template operator()<1>(kernels::attention_forward<Slices, true, 1>);
  if (args.queries.rows > 2048 * args.queries.count)
    return launch_with.template operator()<kMany>(kernels::attention_forward<Slices, false, kMany>);
  launch_with.template operator()<1>(kernels::attention_forward<Slices, false, 1>);
}

}  // namespace attn
