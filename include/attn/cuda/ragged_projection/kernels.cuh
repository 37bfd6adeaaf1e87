#pragma once
#include "attn/core/matrix.hpp"
#include "attn/cuda/support/plain_product.cuh"
#include "attn/cuda/support/vector_types.cuh"

// What the kernels of ragged_projection are told, those for any shape and scalar, and the second pass, which adds up parts.
// The kernels on tensor cores are in mma.cuh; they take the same jobs.

namespace attn::kernels::projection {

/// out_s = A in_s of every sentence s: A = E[:, 0:n_s], in = x, out = y; or, transposed, A = E[:, 0:n_s]ᵀ, in = dy, out = dx.
/// Block (x, y, z) computes a tile: of the sentence and columns x, rows y, and of the sum only the terms of part z.
template <class T>
struct Projecting {
  Matrix<const T> e;                // (blocks * k) x longest allowed
  Matrix<const T> in;               // transposed: (sentences * k) x (blocks * width); else rows x (blocks * width)
  Matrix<T> out;                    // the other of the two
  const std::int32_t *begin, *end;  // of the sentences
  int blocks, k, width;             // width: of one block of columns
  int col_tiles;                    // in one block of columns
  int part_terms;                   // of the sum, in one part
  float* parts;                     // parts x out.rows x out.cols; null where there is one part, which goes to `out`
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
  Matrix<float> to;  // a group's sum: (blocks * k) x columns; the next group's lies `part` numbers on
  Index part;
  bool add;
};

template <class T>
__device__ T* place_of(Matrix<T> matrix, Index row, Index col) {
  return matrix.data + row * matrix.stride + col;
}

/// The tile of at most Rows x Cols that a block of threads computes. A's element (i, t) is e[i, t], transposed e[t, i].
template <bool Transposed, int Rows, int Cols, class T>
struct ProjectionTile {
  const T *e, *in;        // at the tile's first row and the part's first term
  Index row, col;         // of `out`
  int rows, cols, terms;  // left from there on: rows and cols may be more than the tile's; none where not positive

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

/// Where a block's part begins, at its tile.
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

// ---- The second pass ----

/// out = the sum of `count` matrices of out.rows x stride, one after another; or adds it. A block takes a row's columns, each
/// thread N of them from every Slices-th matrix.
template <int Slices, int N, class T>
__global__ void __launch_bounds__(256) sum_parts(Matrix<T> out, bool add, const float* parts, int count, Index stride) {
  constexpr int kThreads = 256 / Slices;
  const int slice = static_cast<int>(threadIdx.x) / kThreads, thread = static_cast<int>(threadIdx.x) % kThreads;
  const Index row = blockIdx.y, col = (Index{blockIdx.x} * kThreads + thread) * N;
  const bool there = col < out.cols;
  Pack<float, N> sum{};
  const auto add_pack = [&](const Pack<float, N>& more) {
#pragma unroll
    for (int k = 0; k < N; ++k) sum.set(k, sum[k] + more[k]);
  };
  if (there) {
#pragma unroll 8
    for (int i = slice; i < count; i += Slices) add_pack(load_pack<N>(parts + (i * out.rows + row) * stride + col));
  }
  __shared__ Pack<float, N> sums[Slices][kThreads];
  sums[slice][thread] = sum;
  __syncthreads();
  if (slice > 0 || !there) return;
#pragma unroll
  for (int i = 1; i < Slices; ++i) add_pack(sums[i][thread]);
  T* to = place_of(out, row, col);
  Pack<T, N> result{};
  if (add) result = load_pack<N>(to);
#pragma unroll
  for (int k = 0; k < N; ++k) result.set(k, result[k] + sum[k]);
  store_pack(to, result);
}

}  // namespace attn::kernels::projection
