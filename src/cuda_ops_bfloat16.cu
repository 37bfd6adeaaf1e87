#include "attn/cuda.cuh"

namespace attn {
ATTN_EVERY_OP(template, Cuda<bfloat16>)
}  // namespace attn
