#include "attn/cuda.cuh"
#include "expressions.hpp"

namespace attn {
ATTN_OP_LIST(template, Cuda<float>)
ATTN_EXPRESSIONS(template, Cuda<float>)
template const void* architecture_kernel<void>();
}  // namespace attn
