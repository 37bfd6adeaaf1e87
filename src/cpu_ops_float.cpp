#include "attn/cpu.hpp"

namespace attn {
ATTN_OP_LIST(template, Cpu<float>)
}  // namespace attn
