#include "attn/cuda.cuh"

namespace attn {
ATTN_EVERY_OP(template, Cuda<float>)
}  // namespace attn
