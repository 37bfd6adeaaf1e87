#include "attn/cuda.cuh"
#include "expressions.hpp"

namespace attn {
ATTN_OP_LIST(template, Cuda<bfloat16>)
ATTN_EXPRESSIONS(template, Cuda<bfloat16>)
template void convert(Cuda<bfloat16>&, const float*, bfloat16*, Index);
}  // namespace attn
