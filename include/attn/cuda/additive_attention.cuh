#pragma once
#include "attn/cuda/attention/additive_gradient.cuh"
#include "attn/cuda/attention/weights.cuh"
#include "attn/cuda/support/overlap.cuh"

namespace attn {
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
