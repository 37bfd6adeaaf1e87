#pragma once
#include "attn/cuda/attention/dkv.cuh"
#include "attn/cuda/attention/dq.cuh"

// The gradient takes two kernels; both recompute the weights P = exp(S - lse). attention_dq iterates over the keys of 64
// queries and sums dQ. attention_dkv iterates over the queries of 64 keys and sums dK and dV. It works on transposed tiles,
// so in both kernels the rounded result of one product is the left operand of the next: P and dS never leave registers.
// Three slots of shared memory rotate: pending products may still read one, one is being processed, one is being filled.
// The warpgroup's own operands stay in shared memory: in registers, ptxas 13.0 would overwrite them with the rounded P.

namespace attn {

template <int Slices>
void attention_backward(Cuda<bfloat16>& device, const AttentionGradientArgs<Cuda<bfloat16>>& args) {
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const bool drop = forward.dropout.active();
  const Index count = forward.q.rows * forward.heads;
  float* const space = device.workspace<float>(2 * count);
  const kernels::QueryStatistics statistics{space, space + count};
  // Long sentences: the warpgroups of a block share each tile they iterate over. Short sentences: many small blocks.
  const auto groups = [](const Ragged& ragged, unsigned most) { return ragged.rows > 256 * ragged.count ? most : 1U; };
  constexpr std::size_t slot = Slices * kTile * sizeof(bfloat16);

  const unsigned of_queries = groups(forward.queries, kernels::kQueryGroups<Slices>);
  const unsigned of_keys = groups(forward.keys, kernels::kKeyGroups);
  const kernels::AttentionBlocks query_blocks(forward, forward.queries, of_queries * kernels::kRows);
  launch(device, "attention's gradient of queries", {query_blocks.all, 128 * of_queries, (6 + 3 * of_queries) * slot},
         drop ? kernels::attention_dq<Slices, true> : kernels::attention_dq<Slices, false>, args, query_blocks, statistics);
  const std::size_t small = 3 * kernels::kRows * (2 * sizeof(float) + (drop ? sizeof(RandomKey) : 0));
  const kernels::AttentionBlocks key_blocks(forward, forward.keys, of_keys * kernels::kRows);
  launch(device, "attention's gradient of keys", {key_blocks.all, 128 * of_keys, (6 + 2 * of_keys) * slot + small},
         drop ? kernels::attention_dkv<Slices, true> : kernels::attention_dkv<Slices, false>, args, key_blocks, statistics);
}

/// The same kernels with mma.sync. The order of each sum is fixed, so results are deterministic.
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
