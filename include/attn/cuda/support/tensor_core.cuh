#pragma once
#include "attn/cuda/support/vector_types.cuh"

// Hopper's matrix instructions (wgmma) on bfloat16, and the tiles in shared memory that they read.
//
// A tile has rows of 64 elements: 128 bytes, in eight chunks of 16. Chunk c of row r is stored at chunk c ^ (r % 8), the
// hardware's 128-byte swizzle: a column of chunks uses all banks. A tile is aligned to 1024 bytes. A wider matrix is several
// tiles side by side.
//
// A warpgroup, 4 warps, computes C += A B with C of 64 x N, in registers: warp w holds rows 16 w to 16 w + 15 of C; lane l holds,
// in c[4 j + i], row l / 4 + 8 * (i / 2), column 8 j + 2 * (l % 4) + i % 2. A comes from registers in the same arrangement, 64 x 16
// at a time: accumulators, rounded to bfloat16, can be used as A. B comes from a tile in one of two ways:
//
//   ColumnsIn::rows      column n of B is row n of the tile: B is the tile transposed, as in Q Kᵀ
//   ColumnsIn::columns   column n of B is column n of the tile, as in P V

namespace attn {

// Hopper's instructions; nothing in code for other GPUs, which never runs it.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define ATTN_HOPPER(...) asm volatile(__VA_ARGS__)
#else
#define ATTN_HOPPER(...)
#endif
#define ATTN_EIGHT_SUMS(c, i) \
  "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])
#define ATTN_32_SUMS(c, i) \
  ATTN_EIGHT_SUMS(c, i), ATTN_EIGHT_SUMS(c, i + 8), ATTN_EIGHT_SUMS(c, i + 16), ATTN_EIGHT_SUMS(c, i + 24)
#define ATTN_64_SUMS(c) ATTN_32_SUMS(c, 0), ATTN_32_SUMS(c, 32)
#define ATTN_32_NAMES                                                      \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ATTN_64_NAMES                                                                  \
  ATTN_32_NAMES                                                                        \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

enum class ColumnsIn { rows, columns };  // columns of B as rows or columns of a tile

inline constexpr int kTile = 64 * 64;  // elements of a tile of 64 rows

/// The offset of (row, col) in a tile, in elements.
__device__ inline int in_tile(int row, int col) { return row * 64 + ((((col >> 3) ^ row) & 7) << 3) + (col & 7); }

__device__ inline std::uint32_t shared_address(const void* place) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
}

/// Packs two floats into a bfloat16 pair; the first is in the low half.
__device__ inline std::uint32_t pair(float first, float second) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

// ---- Filling tiles ----

/// Starts copying 16 bytes from global to shared memory; zero-fills without reading if `there` is false.
__device__ inline void copy_chunk(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0));
}
/// Starts copying 4 bytes.
__device__ inline void copy_word(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(shared_address(to)), "l"(from));
}
__device__ inline void close_copies() { asm volatile("cp.async.commit_group;\n"); }
/// Makes a thread's own writes to shared memory visible to the matrix instructions. A barrier must follow.
__device__ inline void show_writes() { ATTN_HOPPER("fence.proxy.async.shared::cta;\n" ::: "memory"); }
/// Waits until all but the newest `Pending` groups of this thread's copies have arrived.
template <int Pending>
__device__ void wait_for_own_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(Pending) : "memory");
}
/// The same, and makes them visible to the matrix instructions. Other threads' copies may be read only after a barrier.
template <int Pending>
__device__ void wait_for_copies() {
  wait_for_own_copies<Pending>();
  show_writes();
}

/// Starts filling a tile of Rows rows with `rows` x `cols` elements and zeros; rounds cols up to a multiple of 8, at most
/// 64. `from` and its rows are 16-byte aligned. All Threads threads call this.
template <int Rows, int Threads>
__device__ void fill_tile(bfloat16* tile, const bfloat16* from, Index stride, int rows, int cols, int thread) {
  static_assert(Rows * 8 % Threads == 0);
  unrolled<Rows * 8 / Threads>([&](int i) {
    const int chunk = i * Threads + thread, row = chunk / 8, col = chunk % 8 * 8;
    const bool there = row < rows && col < cols;
    copy_chunk(tile + in_tile(row, col), there ? from + row * stride + col : from, there);
  });
}

// ---- Reading A from a tile into registers ----

__device__ inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}
__device__ inline void load_transposed(std::uint32_t (&to)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

/// Loads rows `first` to first + 15 of columns 16 k to 16 k + 15 of a tile, as one warp's part of A.
__device__ inline void load_a(std::uint32_t (&a)[4], const bfloat16* tile, int first, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32, row = first + lane % 16, col = 16 * k + lane / 16 * 8;
  load_matrices(a, shared_address(tile + in_tile(row, col)));
}
/// The same for the transposed tile: rows 16 k to 16 k + 15 of columns `first` to first + 15, transposed.
__device__ inline void load_a_transposed(std::uint32_t (&a)[4], const bfloat16* tile, int first, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32, row = 16 * k + lane / 16 * 8 + lane % 8,
            col = first + lane / 8 % 2 * 8;
  load_transposed(a, shared_address(tile + in_tile(row, col)));
}

/// Rounds columns 16 k to 16 k + 15 of C, as A.
template <int N>
__device__ void round_to_a(std::uint32_t (&a)[4], const float (&c)[N], int k) {
  a[0] = pair(c[8 * k + 0], c[8 * k + 1]);
  a[1] = pair(c[8 * k + 2], c[8 * k + 3]);
  a[2] = pair(c[8 * k + 4], c[8 * k + 5]);
  a[3] = pair(c[8 * k + 6], c[8 * k + 7]);
}

// ---- Multiplying ----

/// Call before the first matrix instruction, and whenever registers that one reads or writes were accessed since the last.
__device__ inline void begin_products() { ATTN_HOPPER("wgmma.fence.sync.aligned;\n" ::: "memory"); }
__device__ inline void close_products() { ATTN_HOPPER("wgmma.commit_group.sync.aligned;\n" ::: "memory"); }
/// Waits until all but the newest `Pending` groups of products are done.
template <int Pending>
__device__ void wait_for_products() {
  ATTN_HOPPER("wgmma.wait_group.sync.aligned %0;\n" ::"n"(Pending) : "memory");
}

/// The compiler sees no dependency between the registers of a product and the instructions that start it and wait for it.
/// This adds one: values are computed before it and used after it.
__device__ inline void settle(float& x) { asm volatile("" : "+f"(x)::"memory"); }
__device__ inline void settle(std::uint32_t& x) { asm volatile("" : "+r"(x)::"memory"); }
template <class T, int N>
__device__ void settle(T (&all)[N]) {
  unrolled<N>([&](int i) { settle(all[i]); });
}

/// Matrix descriptor of rows or columns 16 k to 16 k + 15 of a tile. Groups of 8 rows are 1024 bytes apart. Tiles side by
/// side, which only ColumnsIn::columns with N = 128 reads, are `apart` bytes apart.
template <ColumnsIn Of>
__device__ std::uint64_t describe_tile(const bfloat16* tile, int k, std::uint32_t apart = 0) {
  const std::uint32_t place = shared_address(tile) + static_cast<std::uint32_t>(k) * (Of == ColumnsIn::rows ? 32U : 2048U);
  return (std::uint64_t{place & 0x3ffffU} >> 4) | (std::uint64_t{Of == ColumnsIn::rows ? 1U : apart >> 4} << 16) |
         (std::uint64_t{1024 >> 4} << 32) | (std::uint64_t{1} << 62);
}

/// C += A B, 64 x 64 with 16 terms: A from registers. The first product may set C instead (add = false).
template <ColumnsIn Of>
__device__ void multiply(float (&c)[32], const std::uint32_t (&a)[4], std::uint64_t b, bool add = true) {
  ATTN_HOPPER(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" ATTN_32_NAMES
      "}, {%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}\n"
      : ATTN_32_SUMS(c, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)),
        "n"(Of == ColumnsIn::columns ? 1 : 0));
}

/// C += A B, 64 x 64 with 16 terms: A also from a tile, described by describe_tile<ColumnsIn::rows>.
template <ColumnsIn Of>
__device__ void multiply(float (&c)[32], std::uint64_t a, std::uint64_t b, bool add = true) {
  ATTN_HOPPER(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" ATTN_32_NAMES "}, %32, %33, p, 1, 1, 0, %35;\n}\n"
      : ATTN_32_SUMS(c, 0)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(Of == ColumnsIn::columns ? 1 : 0));
}

/// C += A B, 64 x 128 with 16 terms: A and B from tiles.
template <ColumnsIn Of>
__device__ void multiply(float (&c)[64], std::uint64_t a, std::uint64_t b, bool add = true) {
  ATTN_HOPPER(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ATTN_64_NAMES "}, %64, %65, p, 1, 1, 0, %67;\n}\n"
      : ATTN_64_SUMS(c)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(Of == ColumnsIn::columns ? 1 : 0));
}

/// C += A B, 64 x 128 with 16 terms: A from registers. The first product may set C instead (add = false).
template <ColumnsIn Of>
__device__ void multiply(float (&c)[64], const std::uint32_t (&a)[4], std::uint64_t b, bool add = true) {
  ATTN_HOPPER(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" ATTN_64_NAMES
      "}, {%64, %65, %66, %67}, %68, p, 1, 1, %70;\n}\n"
      : ATTN_64_SUMS(c)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)),
        "n"(Of == ColumnsIn::columns ? 1 : 0));
}

#undef ATTN_64_NAMES
#undef ATTN_32_NAMES
#undef ATTN_64_SUMS
#undef ATTN_32_SUMS
#undef ATTN_EIGHT_SUMS
#undef ATTN_HOPPER

}  // namespace attn
