#pragma once
#include "attn/cpu/amx.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif
#if defined(__ARM_FEATURE_DOTPROD) || defined(__ARM_FEATURE_MATMUL_INT8)
#include <arm_neon.h>
#endif

// Instruction sets for products of int8 numbers from -127 to 127, accumulated in int32. A variant multiplies kGroup weights
// of each of its kLanes lanes by kGroup activations of each of its kHigh rows, and adds them to the sums, one per lane and
// row. Integer sums are exact: every variant gives the same sums.
//
// Some instructions take unsigned activations. They are stored with kOffset added, and the sums begin with -kOffset * the
// sum of a lane's weights. Depths are padded to multiples of kDepth. Sums stay in registers while a tile of kRows rows and
// kPackets times kLanes outputs is computed.

namespace attn::cpu {

/// Portable fallback for any processor.
struct Int8Portable {
  static constexpr Index kLanes = 16, kGroup = 4, kDepth = 4;
  static constexpr int kOffset = 0, kHigh = 1, kRows = 2, kPackets = 1;
  struct Sums {
    std::int32_t of[kLanes];
  };
  using Weights = const std::int8_t*;
  using Activations = const std::int8_t*;

  static Sums load(const std::int32_t* from) {
    Sums sums;
    std::copy_n(from, kLanes, sums.of);
    return sums;
  }
  static void store(std::int32_t* to, Index, const Sums& sums) { std::copy_n(sums.of, kLanes, to); }
  static Weights weights(const std::int8_t* from) { return from; }
  static Activations activations(const std::int8_t* const* rows, Index k) { return rows[0] + k; }
  static void add_products(Sums& sums, Weights w, Activations a) {
    for (Index lane = 0; lane < kLanes; ++lane)
      for (Index k = 0; k < 4; ++k) sums.of[lane] += std::int32_t{w[4 * lane + k]} * a[k];
  }
};

#ifdef __AVX2__
/// The common part of the 256-bit variants.
struct Int8Lanes256 {
  static constexpr Index kLanes = 8, kGroup = 4, kDepth = 4;
  static constexpr int kHigh = 1, kRows = 4, kPackets = 2;
  using Sums = __m256i;
  using Weights = __m256i;
  using Activations = __m256i;

  static Sums load(const std::int32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static void store(std::int32_t* to, Index, Sums sums) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums); }
  static Weights weights(const std::int8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static Activations activations(const std::int8_t* const* rows, Index k) {
    std::int32_t four;
    std::memcpy(&four, rows[0] + k, sizeof four);
    return _mm256_set1_epi32(four);
  }
};

/// AVX2 multiplies unsigned by signed numbers and saturates sums of two products at 16 bits. |a| and w with a's sign stay
/// below that limit, because no number is -128.
struct Int8Avx2 : Int8Lanes256 {
  static constexpr int kOffset = 0;
  static void add_products(Sums& sums, Weights w, Activations a) {
    const __m256i twos = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(w, a));
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(twos, _mm256_set1_epi16(1)));
  }
};
#endif

#if defined(__AVXVNNI__) || (defined(__AVX512VNNI__) && defined(__AVX512VL__))
struct Int8AvxVnni : Int8Lanes256 {
  static constexpr int kOffset = 128;
  static void add_products(Sums& sums, Weights w, Activations a) {
#ifdef __AVXVNNI__
    sums = _mm256_dpbusd_avx_epi32(sums, a, w);
#else
    sums = _mm256_dpbusd_epi32(sums, a, w);
#endif
  }
};
#endif

#if defined(__AVX512VNNI__) && defined(__AVX512F__)
struct Int8Avx512Vnni {
  static constexpr Index kLanes = 16, kGroup = 4, kDepth = 4;
  static constexpr int kOffset = 128, kHigh = 1, kRows = 12, kPackets = 2;
  using Sums = __m512i;
  using Weights = __m512i;
  using Activations = __m512i;

  static Sums load(const std::int32_t* from) { return _mm512_loadu_si512(from); }
  static void store(std::int32_t* to, Index, Sums sums) { _mm512_storeu_si512(to, sums); }
  static Weights weights(const std::int8_t* from) { return _mm512_loadu_si512(from); }
  static Activations activations(const std::int8_t* const* rows, Index k) {
    std::int32_t four;
    std::memcpy(&four, rows[0] + k, sizeof four);
    return _mm512_set1_epi32(four);
  }
  static void add_products(Sums& sums, Weights w, Activations a) { sums = _mm512_dpbusd_epi32(sums, a, w); }
};
#endif

#ifdef ATTN_AMX
/// AVX-512 VNNI for few rows, AMX tiles for more.
struct Int8Amx : Int8Avx512Vnni {
  static constexpr Index kDepth = 64;
};
#endif

#if defined(__ARM_FEATURE_DOTPROD) || defined(__ARM_FEATURE_MATMUL_INT8)
/// The common part of the ARM variants.
struct Int8Neon {
  static constexpr int kOffset = 0;
  using Sums = int32x4_t;
  using Weights = int8x16_t;
  using Activations = int8x16_t;

  static Weights weights(const std::int8_t* from) { return vld1q_s8(from); }
};
#endif

#ifdef __ARM_FEATURE_DOTPROD
struct Int8DotProduct : Int8Neon {
  static constexpr Index kLanes = 4, kGroup = 4, kDepth = 4;
  static constexpr int kHigh = 1, kRows = 6, kPackets = 4;

  static Sums load(const std::int32_t* from) { return vld1q_s32(from); }
  static void store(std::int32_t* to, Index, Sums sums) { vst1q_s32(to, sums); }
  static Activations activations(const std::int8_t* const* rows, Index k) {
    std::int32_t four;
    std::memcpy(&four, rows[0] + k, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }
  static void add_products(Sums& sums, Weights w, Activations a) { sums = vdotq_s32(sums, w, a); }
};
#endif

#ifdef __ARM_FEATURE_MATMUL_INT8
/// I8MM multiplies 2 rows by 2 outputs. Sums: both outputs of the first row, then of the second.
struct Int8MatrixProduct : Int8Neon {
  static constexpr Index kLanes = 2, kGroup = 8, kDepth = 8;
  static constexpr int kHigh = 2, kRows = 4, kPackets = 8;

  static Sums load(const std::int32_t* from) { return vcombine_s32(vld1_s32(from), vld1_s32(from)); }
  static void store(std::int32_t* to, Index stride, Sums sums) {
    vst1_s32(to, vget_low_s32(sums));
    vst1_s32(to + stride, vget_high_s32(sums));
  }
  static Activations activations(const std::int8_t* const* rows, Index k) {
    return vcombine_s8(vld1_s8(rows[0] + k), vld1_s8(rows[1] + k));
  }
  static void add_products(Sums& sums, Weights w, Activations a) { sums = vmmlaq_s32(sums, a, w); }
};
#endif

/// The fastest variant that the compiler may use.
#if defined(ATTN_AMX)
using Int8Lanes = Int8Amx;
#elif defined(__AVX512VNNI__) && defined(__AVX512F__)
using Int8Lanes = Int8Avx512Vnni;
#elif defined(__AVXVNNI__)
using Int8Lanes = Int8AvxVnni;
#elif defined(__AVX2__)
using Int8Lanes = Int8Avx2;
#elif defined(__ARM_FEATURE_MATMUL_INT8)
using Int8Lanes = Int8MatrixProduct;
#elif defined(__ARM_FEATURE_DOTPROD)
using Int8Lanes = Int8DotProduct;
#else
using Int8Lanes = Int8Portable;
#endif

}  // namespace attn::cpu
