#include "attn/cpu.hpp"

namespace attn {
ATTN_EVERY_OP(template, Cpu<double>)
}  // namespace attn
