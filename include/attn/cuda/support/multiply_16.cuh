#pragma once
#include <cstdint>

namespace attn::kernels {

/// Warp-level c += a b on tensor cores, in bfloat16: 16 rows of a, 16 terms, 8 columns of b. Lane l holds rows l / 4 (a0,
/// a2) and l / 4 + 8 (a1, a3) of a and column l / 4 of b: terms 2 * (l % 4) and the next in a0, a1 and b0, those 8 further
/// on in a2, a3 and b1. c[i] is row l / 4 + 8 * (i / 2), column 2 * (l % 4) + i % 2.
__device__ inline void multiply_16(float (&c)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2, std::uint32_t a3,
                                   std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

}  // namespace attn::kernels
