// The attention and projection kernels that use tensor cores, for kernel_resources.py.
#include "attn/cuda/attention.cuh"
#include "attn/cuda/ragged_projection.cuh"

namespace attn {

using Device = Cuda<bfloat16>;
template void attention_forward<1>(Device&, const AttentionArgs<Device>&);
template void attention_forward<2>(Device&, const AttentionArgs<Device>&);
template void attention_backward<1>(Device&, const AttentionGradientArgs<Device>&);
template void attention_backward<2>(Device&, const AttentionGradientArgs<Device>&);
template void mma_attention_forward(Device&, const AttentionArgs<Device>&);
template void mma_attention_backward(Device&, const AttentionGradientArgs<Device>&);
template void mma_attention_forward(Cuda<float>&, const AttentionArgs<Cuda<float>>&);
template void mma_attention_backward(Cuda<float>&, const AttentionGradientArgs<Cuda<float>>&);
template void ragged_projection(Device&, const RaggedProjectionArgs<Device>&);
template void ragged_projection_input_gradient(Device&, const RaggedProjectionInputGradientArgs<Device>&);
template void ragged_projection_weight_gradient(Device&, const RaggedProjectionWeightGradientArgs<Device>&);

}  // namespace attn
