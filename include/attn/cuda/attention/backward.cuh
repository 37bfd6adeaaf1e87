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

}  // namespace attn
