#pragma once
#include "attn/cuda/attention/dkv.cuh"
#include "attn/cuda/attention/dq.cuh"

// The gradient takes two kernels, each of which computes the weights P = exp(S - lse) anew and sums in an order of its own: one
// walks along the keys of 64 queries and sums dQ, one along the queries of 64 keys and sums dK and dV. The second works on
// transposed tiles, so that in both what a product yields is, rounded, the left operand of the next: P and dS never leave registers.
// Three slots of shared memory take turns: one whose products may still run, one that is worked on, one that is being filled.
// What a warpgroup multiplies by in every turn stays in shared memory: in registers, ptxas 13.0 writes the rounded P over it.

namespace attn {

template <int Slices>
void attention_backward(Cuda<bfloat16>& device, const AttentionGradientArgs<Cuda<bfloat16>>& args) {
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const bool drop = forward.dropout.active();
  const Index count = forward.q.rows * forward.heads;
  float* const space = device.workspace<float>(2 * count);
  const kernels::QueryStatistics statistics{space, space + count};
  // Long sentences: all warpgroups of a block share each tile that they walk along. Short ones: many small blocks.
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
