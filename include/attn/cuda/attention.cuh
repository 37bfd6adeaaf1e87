#pragma once
#include "attn/cuda/additive_attention.cuh"
#include "attn/cuda/attention/dkv.cuh"
#include "attn/cuda/attention/dq.cuh"
#include "attn/cuda/attention/forward.cuh"
#include "attn/cuda/attention/mma_dkv.cuh"
#include "attn/cuda/attention/mma_dq.cuh"
#include "attn/cuda/attention/mma_forward.cuh"
#include "attn/cuda/attention/plain.cuh"
#include "attn/cuda/attention/single_query.cuh"
#include "attn/cuda/attention/step.cuh"

// Dispatch of the attention kernels:
//
//   attention_forward, attention_backward   bfloat16 with wgmma (Hopper): heads of up to 128 columns, a multiple of 8, rows that
//                                           begin on 16-byte boundaries, values as wide as keys, a positive scale
//   mma_attention_forward, ..._backward     the same with mma.sync: other GPUs, and heads of up to 256 columns on all. In TF32
//                                           if the device option tf32 is set: float, several queries per sentence, heads of
//                                           up to 128 columns, a multiple of 4
//   step_attention                          one query per sentence (a decoder step), heads of up to 128 columns
//   single_attention                        one query per sentence, wider heads, in float
//   plain_attention                         everything else, in float
//   additive_attention                      scores with u

namespace attn {

// The gradient takes two kernels; both recompute the weights P = exp(S - lse). attention_dq iterates over the keys of 64
// queries and sums dQ. attention_dkv iterates over the queries of 64 keys and sums dK and dV. It works on transposed tiles,
// so in both kernels the rounded result of one product is the left operand of the next: P and dS never leave registers.
// The warpgroup's own operands stay in shared memory: in registers, ptxas 13.0 would overwrite them with the rounded P.

template <int Slices>
void attention_backward(Cuda<bfloat16>& device, const AttentionGradientArgs<Cuda<bfloat16>>& args) {
  const AttentionArgs<Cuda<bfloat16>>& forward = args.forward;
  const bool drop = forward.dropout.active();
  const Index count = forward.q.rows * forward.heads;
  float* const space = device.workspace<float>(2 * count);
  const kernels::QueryStatistics statistics{space, space + count};
  // Long sentences: the warpgroups of a block share each tile they iterate over. Short sentences: many small blocks.
  const auto with_groups = [](const Ragged& ragged, auto most, auto f) {
    if (ragged.rows > 256 * ragged.count) return f(most);
    f(std::integral_constant<int, 1>());
  };
  const auto query_groups = std::integral_constant<int, kernels::kQueryGroups<Slices>>();
  with_groups(forward.queries, query_groups, [&](auto groups) {
    using Layout = kernels::QueryLayout<Slices, groups>;
    const kernels::AttentionBlocks blocks(forward, forward.queries, groups * kernels::kRows);
    launch(device, "attention's gradient of queries", {blocks.all, Layout::threads, Layout::size * sizeof(bfloat16)},
           drop ? kernels::attention_dq<Slices, true, groups> : kernels::attention_dq<Slices, false, groups>, args, blocks,
           statistics);
  });
  const auto key_groups = std::integral_constant<int, kernels::kKeyGroups<Slices>>();
  with_groups(forward.keys, key_groups, [&](auto groups) {
    using Layout = kernels::KeyLayout<Slices, groups>;
    const kernels::AttentionBlocks blocks(forward, forward.keys, groups * kernels::kRows);
    const std::size_t numbers = Layout::slots * kernels::kRows * (2 * sizeof(float) + (drop ? sizeof(RandomKey) : 0));
    launch(device, "attention's gradient of keys", {blocks.all, Layout::threads, Layout::size * sizeof(bfloat16) + numbers},
           drop ? kernels::attention_dkv<Slices, true, groups> : kernels::attention_dkv<Slices, false, groups>, args,
           blocks, statistics);
  });
}

/// The same kernels with mma.sync. The order of each sum is fixed, so results are deterministic.
template <class T>
void mma_attention_backward(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const bool drop = forward.dropout.active();
  const Index count = forward.q.rows * forward.heads, width = forward.q.cols / forward.heads;
  float* const space = device.template workspace<float>(2 * count);
  const kernels::QueryStatistics statistics{space, space + count};

  constexpr int kWidestOfTwo = 128 / sizeof(T);
  const auto average = [](const Ragged& ragged) { return ragged.count > 0 ? ragged.rows / ragged.count : 0; };
  with_mma_shape<T, kWidestOfTwo>(width, average(forward.queries) > 256, drop, [&]<int W, int M, bool Drop>() {
    const kernels::AttentionBlocks blocks(forward, forward.queries, 64 * M);
    constexpr std::size_t shared = kernels::MmaLayout<T, W, M, 3, 2>::size * sizeof(T);
    static_assert(shared <= kSharedEverywhere);
    launch(device, "attention's gradient of queries", {blocks.all, kernels::kMmaThreads, shared},
           kernels::mma_attention_dq<T, W, M, Drop>, args, blocks, statistics);
  });
  // Larger blocks pay off earlier here, except with a causal mask, where blocks near the diagonal are half empty.
  const Index longer_than = forward.causal ? 512 : 192;
  with_mma_shape<T, kWidestOfTwo>(width, average(forward.keys) > longer_than, drop, [&]<int W, int M, bool Drop>() {
    const kernels::AttentionBlocks blocks(forward, forward.keys, 64 * M);
    constexpr std::size_t per_query = 2 * sizeof(float) + (Drop ? sizeof(RandomKey) : 0);
    constexpr std::size_t shared =
        kernels::MmaLayout<T, W, M, 2, 2>::size * sizeof(T) + 2 * kernels::kMmaTile<T, W> * per_query;
    static_assert(shared <= kSharedEverywhere);
    const dim3 grid(blocks.all, static_cast<unsigned>(divide_up(W, kernels::kMmaColumns)));
    launch(device, "attention's gradient of keys", {grid, kernels::kMmaThreads, shared},
           kernels::mma_attention_dkv<T, W, M, Drop>, args, blocks, statistics);
  });
}

template <class T>
bool on_tensor_cores(const Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const Index width = args.q.cols / args.heads;
  constexpr bool kTf32 = std::is_same_v<T, float>;
  if (kTf32 && !device.options().tf32) return false;
  return (args.queries.longest > 1 || (!kTf32 && args.heads > 1)) && args.v.cols == args.q.cols && width <= kMmaWidest<T> &&
         width % Pack<T>::size == 0 && args.scale > 0 && in_packs(args.q, args.k, args.v, args.y);
}
template <class T>
bool on_tensor_cores(const Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  return on_tensor_cores(device, args.forward) && in_packs(args.dy, args.dq.to, args.dk.to, args.dv.to);
}

template <class T>
void attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  check_lists(args);
  if (args.u != nullptr) return additive_attention(device, args);
  if (may_list_keys(args)) return step_attention(device, args);
  if (on_tensor_cores(device, args)) {
    if constexpr (std::is_same_v<T, bfloat16>)
      if (device.has_wgmma() && args.q.cols <= 128 * args.heads)
        return args.q.cols <= 64 * args.heads ? attention_forward<1>(device, args) : attention_forward<2>(device, args);
    return mma_attention_forward(device, args);
  }
  return single_query(device, args) ? single_attention(device, args) : plain_attention(device, args);
}

template <class T>
void attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  refuse_lists("attention_gradient", forward.keys);
  if (forward.u != nullptr) return additive_attention_gradient(device, args);
  if (on_tensor_cores(device, args)) {
    if constexpr (std::is_same_v<T, bfloat16>)
      if (device.has_wgmma() && forward.q.cols <= 128 * forward.heads)
        return forward.q.cols <= 64 * forward.heads ? attention_backward<1>(device, args)
                                                    : attention_backward<2>(device, args);
    return mma_attention_backward(device, args);
  }
  return single_query(device, forward) ? single_attention_gradient(device, args) : plain_attention_gradient(device, args);
}

template <class T>
void attention_weights(Cuda<T>& device, const AttentionWeightsArgs<Cuda<T>>& args) {
  refuse_lists("attention_weights", args.forward.keys);
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  if (forward.u != nullptr) return weights_of_attention<true>(device, forward, forward.u, args.weights);
  weights_of_attention<false>(device, forward, forward.u, args.weights);
}

}  // namespace attn
