#pragma once
#include "attn/core/types.hpp"

#if defined(__AMX_INT8__) && defined(__AVX512VNNI__) && defined(__linux__)
#define ATTN_AMX 1
#ifdef __AMX_BF16__
#define ATTN_AMX_BF16 1
#endif
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <type_traits>

// Intel AMX: tile registers of 16 rows of 64 bytes, and their products.

namespace attn::cpu {

/// Whether this process may use AMX tiles. The kernel grants their memory on request; one request serves all threads.
inline bool may_use_amx() {
  constexpr long kAsk = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool granted = ::syscall(SYS_arch_prctl, kAsk, kTileData) == 0;
  return granted;
}

/// Sets the shapes of this thread's tiles, and releases the tiles when destroyed. All are 64 bytes wide. Tiles 0, 1 and 6
/// have `top` rows; 2, 3 and 7 have `bottom`; 4 and 5 have 16.
class AmxTiles {
 public:
  AmxTiles() = default;
  AmxTiles(const AmxTiles&) = delete;
  ~AmxTiles() {
    if (top_ > 0) _tile_release();
  }

  void shape(Index top, Index bottom) {
    if (top == top_ && bottom == bottom_) return;
    top_ = top, bottom_ = bottom;
    struct alignas(64) {
      std::uint8_t palette = 1, start = 0, reserved[14] = {};
      std::uint16_t bytes[16] = {};
      std::uint8_t rows[16] = {};
    } config;
    const Index rows[8] = {top, top, bottom, bottom, 16, 16, top, bottom};
    for (int tile = 0; tile < 8; ++tile) {
      config.bytes[tile] = rows[tile] > 0 ? 64 : 0;
      config.rows[tile] = static_cast<std::uint8_t>(rows[tile]);
    }
    _tile_loadconfig(&config);
  }

 private:
  Index top_ = 0, bottom_ = 0;
};

/// Prefetches memory that is needed next, `lines` cache lines with every product of tiles.
struct AmxAhead {
  const std::int8_t* next;
  Index lines;

  void ask() {
    for (Index line = 0; line < lines; ++line, next += 64) _mm_prefetch(next, _MM_HINT_T1);
  }
};

// Adds the products of two tiles to a third. The intrinsics need literal numbers of tiles.
#ifdef ATTN_AMX_BF16
#define ATTN_AMX_ADD(sums, x, w)              \
  do {                                        \
    if constexpr (std::is_same_v<Sum, float>) \
      _tile_dpbf16ps(sums, x, w);             \
    else                                      \
      _tile_dpbusd(sums, x, w);               \
  } while (false)
#else
#define ATTN_AMX_ADD(sums, x, w) _tile_dpbusd(sums, x, w)
#endif

/// sums = begins + x w for top + bottom rows of x, up to 32, and 32 outputs. Call shape(top, bottom) first. If sums are
/// int32, rows of x are unsigned bytes and weights signed ones; if they are float, both are bfloat16. Rows of x are
/// `x_stride` bytes apart. w: for each 4 bytes of the depth, 4 bytes of each output, `w_stride` bytes apart. depth: bytes, a
/// multiple of 64. sums: rows `stride` numbers apart.
template <class Value, class Weight, class Sum>
void amx_products(const Value* rows, Index x_stride, const Weight* weights, Index w_stride, Index depth, const Sum* begins,
                  Sum* sums, Index stride, Index top, Index bottom, AmxAhead& ahead) {
  const auto* x = reinterpret_cast<const std::int8_t*>(rows);
  const auto* w = reinterpret_cast<const std::int8_t*>(weights);
  asm volatile("" ::: "memory");  // earlier stores happen before the tile loads
  const std::int8_t* below = x + top * x_stride;
  _tile_loadd(0, begins, 0);
  _tile_loadd(1, begins + 16, 0);
  if (bottom > 0) {
    _tile_loadd(2, begins, 0);
    _tile_loadd(3, begins + 16, 0);
    for (Index k = 0; k < depth; k += 64, w += 16 * w_stride) {
      ahead.ask();
      _tile_loadd(4, w, w_stride);
      _tile_loadd(6, x + k, x_stride);
      ATTN_AMX_ADD(0, 6, 4);
      _tile_loadd(7, below + k, x_stride);
      ATTN_AMX_ADD(2, 7, 4);
      _tile_loadd(5, w + 64, w_stride);
      ATTN_AMX_ADD(1, 6, 5);
      ATTN_AMX_ADD(3, 7, 5);
    }
    _tile_stored(2, sums + top * stride, stride * 4);
    _tile_stored(3, sums + top * stride + 16, stride * 4);
  } else {
    for (Index k = 0; k < depth; k += 64, w += 16 * w_stride) {
      ahead.ask();
      _tile_loadd(6, x + k, x_stride);
      _tile_loadd(4, w, w_stride);
      ATTN_AMX_ADD(0, 6, 4);
      _tile_loadd(5, w + 64, w_stride);
      ATTN_AMX_ADD(1, 6, 5);
    }
  }
  _tile_stored(0, sums, stride * 4);
  _tile_stored(1, sums + 16, stride * 4);
  asm volatile("" ::: "memory");
}
#undef ATTN_AMX_ADD

}  // namespace attn::cpu
#endif
