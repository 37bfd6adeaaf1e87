#pragma once
#include "attn/cuda/attention/rows.cuh"

// The attention weights, for inspection. A warp writes a query's scores to its row of the result and turns them into
// weights in place.

namespace attn {
namespace kernels {

template <bool Additive, int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    attention_weights(const AttentionArgs<Cuda<T>> args, const T* u, const AttentionBlocks blocks, Matrix<float> weights) {
  const AttentionTask<T> task(args, blocks);
  const int query = task.block * kRowWarps + static_cast<int>(threadIdx.x) / 32;
  if (query >= task.queries) return;
  const int visible = task.visible(query);
  float* row = row_of(weights, task.head * args.q.rows + task.first_query + query);
  score_rows<Additive, N>(row, task.query(args.q, query), u, task.key(args.k, 0), args.k.stride, visible, task.width);
  const auto scale = static_cast<float>(args.scale);
  for (int j = lane_of_warp(); j < visible; j += 32) row[j] *= scale;
  const Softmax softmax(row, visible);  // more accurate than from a rounded log-sum-exp
  for (int j = lane_of_warp(); j < weights.cols; j += 32) row[j] = j < visible ? softmax(row[j]) : 0;
}

}  // namespace kernels

/// Weights of dot-product attention, or of additive attention with u.
template <bool Additive, class T>
void weights_of_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args, const T* u, Matrix<float> weights) {
  const kernels::AttentionBlocks blocks(args, args.queries, kRowWarps);
  const Index width = args.q.cols / args.heads;
  with_packs<T>(in_packs(args.q, args.k) && width % Pack<T>::size == 0 && in_packs(u, width, width), [&]<int N>() {
    launch(device, "the weights of attention", {blocks.all, 32 * kRowWarps}, kernels::attention_weights<Additive, N, T>,
           args, u, blocks, weights);
  });
}

}  // namespace attn
