#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/plain_product.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/operands.hpp"
#include "attn/ops/ragged_product.hpp"

// The reference path: one block per tile of 64 x 64, in float. Fused attention, which never stores its scores, is in
// cuda/attention.cuh.

namespace attn {
namespace kernels {

/// The tile that a block computes: its sentence, and its first row and column in the sentence's result.
struct ProductTile {
  Index sentence;
  int row, col;

  __device__ explicit ProductTile(int col_tiles)
      : sentence(blockIdx.x / static_cast<unsigned>(col_tiles)),
        row(static_cast<int>(blockIdx.y) * 64),
        col(static_cast<int>(blockIdx.x % static_cast<unsigned>(col_tiles)) * 64) {}
};

__device__ inline void scale_tile(float (&c)[4][4], double scale) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i][j] *= static_cast<float>(scale);
}

template <class T>
__global__ void __launch_bounds__(256) ragged_scores(RaggedProductArgs<Cuda<T>> args, int col_tiles) {
  const ProductTile tile(col_tiles);
  const Index row = args.a_rows.begin[tile.sentence] + tile.row, key = args.b_rows.begin[tile.sentence] + tile.col;
  const int rows = static_cast<int>(args.a_rows.end[tile.sentence] - row);
  const int keys = static_cast<int>(args.b_rows.end[tile.sentence] - key);  // left from the tile's first column on
  if (rows <= 0 || (keys <= 0 && args.y.add)) return;
  float c[4][4] = {};
  if (keys > 0) {
    add_plain<true, true>(c, row_of(args.a, row), args.a.stride, rows, row_of(args.b, key), args.b.stride, keys,
                          static_cast<int>(args.a.cols));
    scale_tile(c, args.scale);
    for (int j = 0; j < 4; ++j)  // set, not multiplied by 0: a row of a may hold NaN
      if (static_cast<int>(threadIdx.x) % 16 + 16 * j >= keys) c[0][j] = c[1][j] = c[2][j] = c[3][j] = 0;
  }
  const int cols = static_cast<int>(args.y.to.cols) - tile.col;
  put_plain(row_of(args.y.to, row) + tile.col, args.y.to.stride, c, rows, args.y.add ? min(keys, cols) : cols, args.y.add);
}

template <class T>
__global__ void __launch_bounds__(256) ragged_mix(RaggedProductArgs<Cuda<T>> args, int col_tiles) {
  const ProductTile tile(col_tiles);
  const Index row = args.a_rows.begin[tile.sentence] + tile.row, key = args.b_rows.begin[tile.sentence];
  const int rows = static_cast<int>(args.a_rows.end[tile.sentence] - row);
  const int keys = static_cast<int>(args.b_rows.end[tile.sentence] - key);
  if (rows <= 0) return;
  const int cols = static_cast<int>(args.y.to.cols) - tile.col;
  float c[4][4] = {};
  add_plain<true, false>(c, row_of(args.a, row), args.a.stride, rows, row_of(args.b, key) + tile.col, args.b.stride, cols,
                         keys);
  scale_tile(c, args.scale);
  put_plain(row_of(args.y.to, row) + tile.col, args.y.to.stride, c, rows, cols, args.y.add);
}

template <class T>
__global__ void __launch_bounds__(256) ragged_mix_transposed(RaggedProductArgs<Cuda<T>> args, int col_tiles) {
  const ProductTile tile(col_tiles);
  const Index first = args.a_rows.begin[tile.sentence], row = args.b_rows.begin[tile.sentence] + tile.row;
  const int terms = static_cast<int>(args.a_rows.end[tile.sentence] - first);
  const int rows = static_cast<int>(args.b_rows.end[tile.sentence] - row);
  if (rows <= 0) return;
  const int cols = static_cast<int>(args.y.to.cols) - tile.col;
  float c[4][4] = {};
  add_plain<false, false>(c, row_of(args.a, first) + tile.row, args.a.stride, rows, row_of(args.b, first) + tile.col,
                          args.b.stride, cols, terms);
  scale_tile(c, args.scale);
  put_plain(row_of(args.y.to, row) + tile.col, args.y.to.stride, c, rows, cols, args.y.add);
}

}  // namespace kernels

/// Launches a kernel for all tiles of a result whose rows are those of `rows`. Keys are columns of a matrix of key_cols.
template <class T>
void launch_ragged_product(Cuda<T>& device, const char* what, void (*kernel)(RaggedProductArgs<Cuda<T>>, int),
                           const RaggedProductArgs<Cuda<T>>& args, const Ragged& rows, Index key_cols) {
  check_ragged_product(what, args.a_rows, args.b_rows, key_cols);
  zero_outside(device, rows, args.y);
  const Index col_tiles = divide_up(args.y.to.cols, 64), row_tiles = divide_up(rows.longest, 64);
  const dim3 grid(static_cast<unsigned>(rows.count * col_tiles), static_cast<unsigned>(row_tiles));
  launch(device, what, {grid, 256}, kernel, args, static_cast<int>(col_tiles));
}

template <class T>
void ragged_scores(Cuda<T>& device, const RaggedProductArgs<Cuda<T>>& args) {
  launch_ragged_product(device, "ragged_scores", kernels::ragged_scores<T>, args, args.a_rows, args.y.to.cols);
}

template <class T>
void ragged_mix(Cuda<T>& device, const RaggedProductArgs<Cuda<T>>& args) {
  launch_ragged_product(device, "ragged_mix", kernels::ragged_mix<T>, args, args.a_rows, args.a.cols);
}

template <class T>
void ragged_mix_transposed(Cuda<T>& device, const RaggedProductArgs<Cuda<T>>& args) {
  launch_ragged_product(device, "ragged_mix_transposed", kernels::ragged_mix_transposed<T>, args, args.b_rows, args.a.cols);
}

}  // namespace attn
