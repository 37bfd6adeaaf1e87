#include "attn/cpu.hpp"
#include "expressions.hpp"

namespace attn {
ATTN_OP_LIST(template, Cpu<float>)
ATTN_EXPRESSIONS(template, Cpu<float>)
}  // namespace attn
