#pragma once
#include "attn/cuda/attention/backward.cuh"
#include "attn/cuda/attention/forward.cuh"
#include "attn/cuda/attention/plain.cuh"
#include "attn/cuda/attention/single_query.cuh"
#include "attn/cuda/attention/step.cuh"

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
  const auto fits = [](const auto& m) { return in_packs(m.data, m.cols, m.stride); };
  return (args.queries.longest > 1 || args.heads > 1) && args.v.cols == args.q.cols && width <= 256 && width % 8 == 0 &&
         args.scale > 0 && fits(args.q) && fits(args.k) && fits(args.v) && fits(args.y);
}
template <class T>
bool on_tensor_cores(const AttentionGradientArgs<Cuda<T>>& args) {
  const auto fits = [](const auto& m) { return in_packs(m.data, m.cols, m.stride); };
  return on_tensor_cores(args.forward) && fits(args.dy) && fits(args.dq.to) && fits(args.dk.to) && fits(args.dv.to);
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
  refuse_lists("attention_gradient", args.forward.keys);
  if constexpr (std::is_same_v<T, bfloat16>)
    if (on_tensor_cores(args)) {
      if (!device.has_wgmma() || args.forward.q.cols > 128 * args.forward.heads)
        return mma_attention_backward(device, args);
      return args.forward.q.cols <= 64 * args.forward.heads ? attention_backward<1>(device, args)
                                                            : attention_backward<2>(device, args);
    }
  return single_query(device, args.forward) ? single_attention_gradient(device, args)
                                            : plain_attention_gradient(device, args);
}

template <class T>
void attention_weights(Cuda<T>& device, const AttentionWeightsArgs<Cuda<T>>& args) {
  refuse_lists("attention_weights", args.forward.keys);
  weights_of_attention<false>(device, args.forward, static_cast<const T*>(nullptr), args.weights);
}

}  // namespace attn
