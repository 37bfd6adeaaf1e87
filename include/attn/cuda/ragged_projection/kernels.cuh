#pragma once
#include "attn/core/matrix.hpp"
#include "attn/cuda/support/mma.cuh"
#include "attn/cuda/support/plain_product.cuh"

// The kernels of ragged_projection: for any shape and scalar, and for tensor cores. They take the same arguments.

namespace attn::kernels::projection {

/// out_s = A in_s of every sentence s: A = E[:, 0:n_s], in = x, out = y; or, transposed, A = E[:, 0:n_s]ᵀ, in = dy, out =
/// dx. Block (x, y, z) computes the tile of sentence and columns x and rows y, and sums only the terms of part z.
template <class T>
struct Projecting {
  Matrix<const T> e;                // (blocks * k) x longest allowed
  Matrix<const T> in;               // transposed: (sentences * k) x (blocks * width); else rows x (blocks * width)
  Matrix<T> out;                    // the other of the two
  const std::int32_t *begin, *end;  // of the sentences
  int blocks, k, width;             // width: of one block of columns
  int col_tiles;                    // in one block of columns
  int part_terms;                   // of the sum, in one part
  float* parts;                     // parts x out.rows x out.cols; null if there is one part, which goes to `out`
  bool add;                         // to `out`
};

/// dE = the sum over s of dy_s x_sᵀ. Block (x, y, z) sums the sentences x, x + groups, ... into columns y, rows z.
template <class T>
struct ProjectingWeight {
  Matrix<const T> dy;               // (sentences * k) x (blocks * width)
  Matrix<const T> x;                // rows x (blocks * width)
  const std::int32_t *begin, *end;  // of the sentences
  Index sentences;
  int k, width;      // width: of one block of columns
  int row_tiles;     // in one matrix of k rows
  Matrix<float> to;  // a group's sum: (blocks * k) x columns; the next group's is `part` elements further on
  Index part;
  bool add;
};

template <class T>
__device__ T* place_of(Matrix<T> matrix, Index row, Index col) {
  return matrix.data + row * matrix.stride + col;
}

/// The tile of at most Rows x Cols that a block computes. A's element (i, t) is e[i, t], transposed e[t, i].
template <bool Transposed, int Rows, int Cols, class T>
struct ProjectionTile {
  const T *e, *in;        // at the tile's first row and the part's first term
  Index row, col;         // of `out`
  int rows, cols, terms;  // left from there on: rows and cols may exceed the tile; none if not positive

  __device__ explicit ProjectionTile(const Projecting<T>& job) {
    const int tiles = job.blocks * job.col_tiles, tile = static_cast<int>(blockIdx.x) % tiles;
    const int block = tile / job.col_tiles, first_col = tile % job.col_tiles * Cols;
    const int first_row = static_cast<int>(blockIdx.y) * Rows, first_term = static_cast<int>(blockIdx.z) * job.part_terms;
    const Index sentence = static_cast<int>(blockIdx.x) / tiles, begin = job.begin[sentence];
    const int length = job.end[sentence] - static_cast<int>(begin);
    col = Index{block} * job.width + first_col;
    row = (Transposed ? begin : sentence * job.k) + first_row;
    e = place_of(job.e, Index{block} * job.k + (Transposed ? first_term : first_row), Transposed ? first_row : first_term);
    in = place_of(job.in, (Transposed ? sentence * job.k : begin) + first_term, col);
    rows = (Transposed ? length : job.k) - first_row;
    cols = job.width - first_col;
    terms = min(job.part_terms, (Transposed ? job.k : length) - first_term);
  }
};

/// The address of a block's part, at its tile.
template <class Tile, class T>
__device__ float* part_of(const Projecting<T>& job, const Tile& tile) {
  return job.parts + (Index{blockIdx.z} * job.out.rows + tile.row) * job.out.cols + tile.col;
}

// ---- Any shape, any scalar: see support/plain_product.cuh ----

template <bool Transposed, class T>
__global__ void __launch_bounds__(256) project(Projecting<T> job) {
  const ProjectionTile<Transposed, 64, 64, T> tile(job);
  if (tile.rows <= 0) return;
  float c[4][4] = {};
  add_plain<!Transposed, false>(c, tile.e, job.e.stride, tile.rows, tile.in, job.in.stride, tile.cols, tile.terms);
  if (job.parts != nullptr)
    put_plain(part_of(job, tile), job.out.cols, c, tile.rows, tile.cols, false);
  else
    put_plain(place_of(job.out, tile.row, tile.col), job.out.stride, c, tile.rows, tile.cols, job.add);
}

template <class T>
__global__ void __launch_bounds__(256) project_weight(ProjectingWeight<T> job) {
  const int first_col = static_cast<int>(blockIdx.y) * 64, first_row = static_cast<int>(blockIdx.z) % job.row_tiles * 64;
  const Index block = static_cast<int>(blockIdx.z) / job.row_tiles;
  float c[4][4] = {};
  for (Index s = blockIdx.x; s < job.sentences; s += gridDim.x) {
    const Index begin = job.begin[s];
    const int length = job.end[s] - static_cast<int>(begin);
    if (length > first_col)
      add_plain<true, true>(c, place_of(job.dy, s * job.k + first_row, block * job.width), job.dy.stride, job.k - first_row,
                            place_of(job.x, begin + first_col, block * job.width), job.x.stride, length - first_col,
                            job.width);
  }
  put_plain(place_of(job.to, block * job.k + first_row, first_col) + blockIdx.x * job.part, job.to.stride, c,
            job.k - first_row, static_cast<int>(job.to.cols) - first_col, job.add);
}

// ---- Tensor cores: wgmma on Hopper, mma.sync elsewhere. A block of Size warpgroups computes a tile of 64 * Size x 64 * Size,
// 64 rows per warpgroup. A and B are loaded 64 terms at a time, through a pipeline of Stages stages. ----

/// Whether the current architecture launches a kernel with these blocks. Large blocks have two stages without wgmma.
template <int Size, int Stages>
__device__ constexpr bool is_launched() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  return Size == 1 || Stages > 2;
#else
  return Size == 1 || Stages == 2;
#endif
}

/// Bytes of shared memory per block: the pipeline stages, later reused for the tile of sums in float.
template <int Size, int Stages>
constexpr std::size_t shared_bytes() {
  return std::max(std::size_t{Stages} * 2 * Size * kTile * sizeof(bfloat16),
                  std::size_t{Size} * 64 * (64 * Size + 8) * sizeof(float));
}

/// Writes or adds 8 adjacent sums.
template <class T>
__device__ void put_sums(T* to, const float* sums, bool add) {
#pragma unroll
  for (int first = 0; first < 8; first += Pack<T>::size) {
    Pack<T> pack{};
    if (add) pack = load_pack(to + first);
    for (int i = 0; i < Pack<T>::size; ++i) pack.set(i, pack[i] + sums[first + i]);
    store_pack(to + first, pack);
  }
}

/// Writes rows x cols of the tile of sums c. Each warp stages its 16 rows in shared memory, so that it writes whole rows.
/// Rows are padded by 8 elements, so that the four rows that half a warp writes at once use different banks.
template <int Size, class T>
__device__ void put_tile(float* shared, const float (&c)[32 * Size], T* to, Index stride, int rows, int cols, bool add) {
  constexpr int kStride = 64 * Size + 8;
  const int lane = static_cast<int>(threadIdx.x) % 32, first = static_cast<int>(threadIdx.x) / 32 * 16;
  float* sums = shared + first * kStride;
#pragma unroll
  for (int j = 0; j < 8 * Size; ++j) {
    float* place = sums + lane / 4 * kStride + 8 * j + lane % 4 * 2;
    *reinterpret_cast<float2*>(place) = make_float2(c[4 * j], c[4 * j + 1]);
    *reinterpret_cast<float2*>(place + 8 * kStride) = make_float2(c[4 * j + 2], c[4 * j + 3]);
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 4 * Size; ++i) {
    const int row = (32 * i + lane) / (8 * Size), col = (32 * i + lane) % (8 * Size) * 8;
    if (first + row < rows && col < cols) put_sums(to + (first + row) * stride + col, sums + row * kStride + col, add);
  }
}

/// c += A B with 64 terms: `a` the warpgroup's tile of A, or of A transposed, and `b` the tiles of B.
template <bool Transposed, ColumnsIn Of, int N>
__device__ void multiply_tiles(float (&c)[N], const bfloat16* a, const bfloat16* b) {
  const int first = static_cast<int>(threadIdx.x) % 128 / 32 * 16;
  std::uint32_t terms[4][4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if constexpr (Transposed)
      load_a_transposed(terms[k], a, first, k);
    else
      load_a(terms[k], a, first, k);
  }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  begin_products();
  for (int k = 0; k < 4; ++k) multiply<Of>(c, terms[k], describe_tile<Of>(b, k, kTile * sizeof(bfloat16)));
  close_products();
  wait_for_products<0>();
#else
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int j = 0; j < N / 8; ++j) {  // columns 16 j to 16 j + 15
      std::uint32_t right[4];
      if constexpr (Of == ColumnsIn::rows)
        load_matrices(right, Lanes<bfloat16, 64, true>().address(shared_address(b), 16 * j, k));
      else
        load_transposed(right, Lanes<bfloat16, 64>().address(shared_address(b + j / 4 * kTile), 16 * k, j % 4));
      mma(c + 8 * j, terms[k], right[0], right[1]);
      mma(c + 8 * j + 4, terms[k], right[2], right[3]);
    }
#endif
}

template <bool Transposed, int Size, int Stages>
__global__ void __launch_bounds__(128 * Size, Size == 2 ? 2 : 6) project_mma(Projecting<bfloat16> job) {
  if (!is_launched<Size, Stages>()) return;
  constexpr int kThreads = 128 * Size;
  extern __shared__ __align__(1024) unsigned char shared[];
  const ProjectionTile<Transposed, 64 * Size, 64 * Size, bfloat16> tile(job);
  if (tile.rows <= 0) return;
  const int thread = static_cast<int>(threadIdx.x);
  const auto stage = [&](int step) { return reinterpret_cast<bfloat16*>(shared) + step % Stages * 2 * Size * kTile; };

  // Terms past the last are zeros in both tiles, except up to 7 more columns of E, which are multiplied by rows of zeros.
  const auto fill = [&](int step) {
    const int first = step * 64, left = tile.terms - first;
    if (left > 0) {
      bfloat16 *a = stage(step), *b = a + Size * kTile;
      if constexpr (Transposed) {
#pragma unroll
        for (int i = 0; i < Size; ++i)
          fill_tile<64, kThreads>(a + i * kTile, tile.e + first * job.e.stride + 64 * i, job.e.stride, left,
                                  tile.rows - 64 * i, thread);
      } else {
        fill_tile<64 * Size, kThreads>(a, tile.e + first, job.e.stride, tile.rows, left, thread);
      }
#pragma unroll
      for (int i = 0; i < Size; ++i)
        fill_tile<64, kThreads>(b + i * kTile, tile.in + first * job.in.stride + 64 * i, job.in.stride, left,
                                tile.cols - 64 * i, thread);
    }
    close_copies();
  };

  float c[32 * Size] = {};
#pragma unroll
  for (int step = 0; step < Stages - 1; ++step) fill(step);
  for (int step = 0; step * 64 < tile.terms; ++step) {
    wait_for_copies<Stages - 2>();
    __syncthreads();  // this step's tiles have arrived, and the previous ones have been read
    fill(step + Stages - 1);
    multiply_tiles<Transposed, ColumnsIn::columns>(c, stage(step) + thread / 128 * kTile, stage(step) + Size * kTile);
  }
  __syncthreads();
  float* sums = reinterpret_cast<float*>(shared);
  if (job.parts != nullptr)
    put_tile<Size>(sums, c, part_of(job, tile), job.out.cols, tile.rows, tile.cols, false);
  else
    put_tile<Size>(sums, c, place_of(job.out, tile.row, tile.col), job.out.stride, tile.rows, tile.cols, job.add);
}

template <int Size, int Stages>
__global__ void __launch_bounds__(128 * Size, Size == 2 ? 2 : 4) project_weight_mma(ProjectingWeight<bfloat16> job) {
  if (!is_launched<Size, Stages>()) return;
  constexpr int kThreads = 128 * Size;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int first_col = static_cast<int>(blockIdx.y) * 64 * Size;
  const int first_row = static_cast<int>(blockIdx.z) % job.row_tiles * 64 * Size;
  const Index block = static_cast<int>(blockIdx.z) / job.row_tiles;
  const int thread = static_cast<int>(threadIdx.x);
  const auto stage = [&](int step) { return reinterpret_cast<bfloat16*>(shared) + step % Stages * 2 * Size * kTile; };

  // A step: 64 of a block's columns, in one of the group's sentences that reach this tile.
  Index sentence = blockIdx.x, begin = 0;
  int length = 0, col = 0, filled = 0;
  const auto find_sentence = [&] {
    for (; sentence < job.sentences; sentence += gridDim.x) {
      begin = job.begin[sentence];
      length = job.end[sentence] - static_cast<int>(begin);
      if (length > first_col) return;
    }
  };
  const auto fill = [&] {
    if (sentence < job.sentences) {
      bfloat16 *a = stage(filled++), *b = a + Size * kTile;
      const Index place = block * job.width + col;
      fill_tile<64 * Size, kThreads>(a, place_of(job.dy, sentence * job.k + first_row, place), job.dy.stride,
                                     job.k - first_row, job.width - col, thread);
      fill_tile<64 * Size, kThreads>(b, place_of(job.x, begin + first_col, place), job.x.stride, length - first_col,
                                     job.width - col, thread);
      col += 64;
      if (col >= job.width) {
        col = 0;
        sentence += gridDim.x;
        find_sentence();
      }
    }
    close_copies();
  };

  float c[32 * Size] = {};
  find_sentence();
#pragma unroll
  for (int i = 0; i < Stages - 1; ++i) fill();
  for (int step = 0; step < filled; ++step) {
    wait_for_copies<Stages - 2>();
    __syncthreads();  // this step's tiles have arrived, and the previous ones have been read
    fill();
    multiply_tiles<false, ColumnsIn::rows>(c, stage(step) + thread / 128 * kTile, stage(step) + Size * kTile);
  }
  __syncthreads();
  put_tile<Size>(reinterpret_cast<float*>(shared), c,
                 place_of(job.to, block * job.k + first_row, first_col) + blockIdx.x * job.part, job.to.stride,
                 job.k - first_row, static_cast<int>(job.to.cols) - first_col, job.add);
}

}  // namespace attn::kernels::projection
