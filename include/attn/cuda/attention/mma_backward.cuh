#pragma once
#include "attn/cuda/attention/mma_dkv.cuh"
#include "attn/cuda/attention/mma_dq.cuh"

// The two kernels of backward.cuh with mma.sync: one iterates over the keys of a block of queries and sums dQ, the other
// over the queries of a block of keys and sums dK and dV. The order of each sum is fixed, so results are deterministic.

namespace attn {

inline void mma_attention_backward(Cuda<bfloat16>& device, const AttentionGradientArgs<Cuda<bfloat16>>& args) {
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const bool drop = forward.dropout.active();
  const Index count = forward.q.rows * forward.heads, width = forward.q.cols / forward.heads;
  float* const space = device.workspace<float>(2 * count);
  const kernels::QueryStatistics statistics{space, space + count};

  const auto average = [](const Ragged& ragged) { return ragged.count > 0 ? ragged.rows / ragged.count : 0; };
  with_mma_shape(width, average(forward.queries) > 256, drop, [&]<int W, int M, bool Drop>() {
    const kernels::AttentionBlocks blocks(forward, forward.queries, 64 * M);
    constexpr std::size_t shared = kernels::MmaLayout<W, M, 3, 2>::size * sizeof(bfloat16);
    static_assert(shared <= kSharedEverywhere);
    launch(device, "attention's gradient of queries", {blocks.all, kernels::kMmaThreads, shared},
           kernels::mma_attention_dq<W, M, Drop>, args, blocks, statistics);
  });
  // Larger blocks pay off earlier here, except with a causal mask, where blocks near the diagonal are half empty.
  const Index longer_than = forward.causal ? 512 : 192;
  with_mma_shape(width, average(forward.keys) > longer_than, drop, [&]<int W, int M, bool Drop>() {
    const kernels::AttentionBlocks blocks(forward, forward.keys, 64 * M);
    constexpr std::size_t per_query = 2 * sizeof(float) + (Drop ? sizeof(RandomKey) : 0);
    constexpr std::size_t shared =
        kernels::MmaLayout<W, M, 2, 2>::size * sizeof(bfloat16) + 2 * kernels::kMmaTile<W> * per_query;
    static_assert(shared <= kSharedEverywhere);
    const dim3 grid(blocks.all, static_cast<unsigned>(divide_up(W, kernels::kMmaColumns)));
    launch(device, "attention's gradient of keys", {grid, kernels::kMmaThreads, shared},
           kernels::mma_attention_dkv<W, M, Drop>, args, blocks, statistics);
  });
}

}  // namespace attn
