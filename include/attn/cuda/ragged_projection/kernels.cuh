#pragma once
#include "attn/core/matrix.hpp"
#include "attn/cuda/support/plain_product.cuh"
#include "attn/cuda/support/vector_types.cuh"

// The arguments of the ragged_projection kernels, and the kernels for any shape and scalar. The tensor-core kernels in
// mma.cuh take the same arguments.

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

}  // namespace attn::kernels::projection
