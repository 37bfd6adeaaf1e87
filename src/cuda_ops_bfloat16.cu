#include "attn/cuda.cuh"

namespace attn {
ATTN_OP_LIST(template, Cuda<bfloat16>)
}  // namespace attn
