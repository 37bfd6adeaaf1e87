#pragma once
#include "attn/cpu/bfloat16_arm.hpp"
#include "attn/cpu/bfloat16_x86.hpp"

/// Whether the compiler may use instructions for bf16 matrix products: Bfloat16Tile exists.
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) || defined(__AVX512BF16__)
#define ATTN_BFLOAT16_PRODUCTS 1
#endif
