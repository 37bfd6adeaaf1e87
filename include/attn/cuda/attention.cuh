#pragma once
#include "attn/cuda/attention/additive_gradient.cuh"
#include "attn/cuda/attention/backward.cuh"
#include "attn/cuda/attention/forward.cuh"
#include "attn/cuda/attention/mma_backward.cuh"
#include "attn/cuda/attention/mma_forward.cuh"
#include "attn/cuda/attention/plain.cuh"
#include "attn/cuda/attention/single_query.cuh"
#include "attn/cuda/attention/step.cuh"
#include "attn/cuda/attention/weights.cuh"
#include "attn/cuda/support/overlap.cuh"

// Dispatch of the attention kernels:
//
//   attention_forward, attention_backward   bfloat16 with wgmma (Hopper): heads of up to 128 columns, a multiple of 8, rows that
//                                           begin on 16-byte boundaries, values as wide as keys, a positive scale
//   mma_attention_forward, ..._backward     the same with mma.sync: other GPUs, and heads of up to 256 columns on all
//   step_attention                          one query per sentence (a decoder step), heads of up to 128 columns
//   single_attention                        one query per sentence, wider heads, in float
//   plain_attention                         everything else, in float

namespace attn {

template <class T>
bool on_tensor_cores(const AttentionArgs<Cuda<T>>& args) {
  const Index width = args.q.cols / args.heads;
  return (args.queries.longest > 1 || args.heads > 1) && args.v.cols == args.q.cols && width <= 256 && width % 8 == 0 &&
         args.scale > 0 && in_packs(args.q, args.k, args.v, args.y);
}
template <class T>
bool on_tensor_cores(const AttentionGradientArgs<Cuda<T>>& args) {
  return on_tensor_cores(args.forward) && in_packs(args.dy, args.dq.to, args.dk.to, args.dv.to);
}

template <class T>
void attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  check_lists(args);
  if (may_list_keys(args)) return step_attention(device, args);
  if constexpr (std::is_same_v<T, bfloat16>)
    if (on_tensor_cores(args)) {
      if (!device.has_wgmma() || args.q.cols > 128 * args.heads) return mma_attention_forward(device, args);
      return args.q.cols <= 64 * args.heads ? attention_forward<1>(device, args) : attention_forward<2>(device, args);
    }
  return single_query(device, args) ? single_attention(device, args) : plain_attention(device, args);
}

template <class T>
void attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  refuse_lists("attention_gradient", forward.keys);
  if constexpr (std::is_same_v<T, bfloat16>)
    if (on_tensor_cores(args)) {
      if (!device.has_wgmma() || forward.q.cols > 128 * forward.heads) return mma_attention_backward(device, args);
      return forward.q.cols <= 64 * forward.heads ? attention_backward<1>(device, args)
                                                  : attention_backward<2>(device, args);
    }
  return single_query(device, forward) ? single_attention_gradient(device, args) : plain_attention_gradient(device, args);
}

template <class T>
void attention_weights(Cuda<T>& device, const AttentionWeightsArgs<Cuda<T>>& args) {
  refuse_lists("attention_weights", args.forward.keys);
  weights_of_attention<false>(device, args.forward, static_cast<const T*>(nullptr), args.weights);
}

namespace kernels {

inline constexpr int kAdditiveWarps = 4;  // of the forward pass; one query per warp

/// Scores are in shared memory, or in `space`, one row per query, if a sentence is too long for that.
template <int N, class T>
__global__ void __launch_bounds__(32 * kAdditiveWarps)
    additive_attention(const AttentionArgs<Cuda<T>> args, const T* u, const AttentionBlocks blocks, float* space) {
  extern __shared__ float additive_scores[];
  wait_for_earlier();
  let_next_begin();
  const AttentionTask<T> task(args, blocks);
  const int warp = static_cast<int>(threadIdx.x) / 32, query = task.block * kAdditiveWarps + warp;
  if (query >= task.queries) return;
  const int visible = task.visible(query);
  float* scores =
      space != nullptr ? space + task.statistic(query, 1) * args.keys.longest : additive_scores + warp * args.keys.longest;
  score_rows<true, N>(scores, task.query(args.q, query), u, task.key(args.k, 0), args.k.stride, visible, task.width);
  const Softmax softmax(scores, visible);
  if (lane_of_warp() == 0) args.lse[task.statistic(query, 1)] = softmax.log_sum_exp();
  for (int j = lane_of_warp(); j < visible; j += 32) scores[j] = softmax(scores[j]);
  __syncwarp();
  sum_rows<N>(
      task.key_values(args.v, 0), args.v.stride, visible, task.value_width, [&](int j) { return scores[j]; },
      [&](int column, const float(&y)[8]) {
        put_eight<N>(task.query_values(args.y, query), column, task.value_width, y, false);
      });
}

}  // namespace kernels

template <class T>
void additive_attention(Cuda<T>& device, const AdditiveAttentionArgs<Cuda<T>>& args) {
  refuse_lists("additive_attention", args.keys);
  const AttentionArgs<Cuda<T>> same = as_attention(args);
  const kernels::AttentionBlocks blocks(same, args.queries, kernels::kAdditiveWarps);
  std::size_t shared = kernels::kAdditiveWarps * static_cast<std::size_t>(args.keys.longest) * sizeof(float);
  float* space = nullptr;
  if (shared > 48 * 1024) space = device.template workspace<float>(args.q.rows * args.keys.longest), shared = 0;
  with_packs<T>(additive_in_packs(args), [&]<int N>() {
    launch_overlapping(device, "additive attention", {blocks.all, 32 * kernels::kAdditiveWarps, shared},
                       kernels::additive_attention<N, T>, same, args.u, blocks, space);
  });
}

template <class T>
void additive_attention_weights(Cuda<T>& device, const AdditiveAttentionWeightsArgs<Cuda<T>>& args) {
  refuse_lists("additive_attention_weights", args.forward.keys);
  weights_of_attention<true>(device, as_attention(args.forward), args.forward.u, args.weights);
}

}  // namespace attn
