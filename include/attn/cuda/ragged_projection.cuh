#pragma once
#include "attn/cuda/matmul/gemm.cuh"
#include "attn/cuda/ragged_projection/kernels.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/ragged_product.hpp"

// y_s = E x_s and dx_s = Eᵀ dy_s share one kernel. With few long sentences, the sums of y are split
// into parts, which a second launch adds. dE += dy_s x_sᵀ is small, with long sums: groups of sentences are the parts.
//
//   bfloat16, rows in 16-byte chunks             *_mma on tensor cores, in tiles of 64 x 64, or of 128 x 128 where full
//   short sentences of one length                cuBLASLt, for y
//   all else                                    project, project_weight, in tiles of 64 x 64

namespace attn {

/// Sets `out` to the sum of `count` parts, or adds it.
template <class T, class Out>
void sum_projection_parts(Cuda<T>& device, Matrix<Out> out, bool add, const float* parts, Index count, Index stride) {
  const bool fours = out.cols % 4 == 0 && out.stride % 4 == 0 && stride % 4 == 0 &&
                     reinterpret_cast<std::uintptr_t>(out.data) % (4 * sizeof(Out)) == 0;
  sum_parts(device, "ragged_projection, parts", kernels::SumsToMatrix<Out>{out.data, out.stride}, out.rows, out.cols, add,
            parts, count, stride, fours);
}

/// out_s = A in_s, with A = E[:, 0:n_s] or, transposed, its transpose.
template <bool Transposed, class T>
void project_sentences(Cuda<T>& device, const char* what, Matrix<const T> e, Ragged rows, int blocks, Matrix<const T> in,
                       Sink<T> out) {
  namespace on_gpu = kernels::projection;
  const Index k = e.rows / blocks, width = in.cols / blocks;
  if (rows.count == 0 || k == 0 || width == 0) return;
  if constexpr (!Transposed) {
    // Consecutive sentences of one length that are so short that y is hardly smaller than x: one batched product.
    const bool packed = rows.end == rows.begin + 1 && rows.rows == rows.count * rows.longest && rows.rows == in.rows;
    if (packed && blocks == 1 && rows.count > 1 && k > 64 && rows.longest > 0 && rows.longest <= 2 * k)
      return gemm(device, GemmArgs<T, T>{.a = e.columns(0, rows.longest),
                                         .b = in.row_range(0, rows.longest),
                                         .c = out.to.row_range(0, k),
                                         .add = out.add,
                                         .repeat = {rows.count, 0, rows.longest * in.stride, k * out.to.stride}});
  }
  const bool tensor_cores = std::is_same_v<T, bfloat16> && in_packs(e.data, e.cols, e.stride) &&
                            in_packs(in.data, width, in.stride) && in_packs(out.to.data, width, out.to.stride);
  const bool large = tensor_cores && width > 64 && (Transposed ? rows.rows > 64 * rows.count : k > 64);
  const Index tile = large ? 128 : 64;
  const Index col_tiles = divide_up(width, tile), row_tiles = divide_up(Transposed ? rows.longest : k, tile);

  // Two blocks per multiprocessor are enough; a part of less than 256 terms is not worth a second pass.
  const Index tiles = rows.count * blocks * col_tiles * row_tiles;
  Index parts = 1, terms = Transposed ? k : std::max<Index>(1, rows.longest);
  if (!Transposed) {
    parts = std::clamp<Index>(2 * device.multiprocessors() / tiles, 1, divide_up(terms, 256));
    terms = divide_up(divide_up(terms, parts), 64) * 64;
    parts = divide_up(std::max<Index>(1, rows.longest), terms);
  }
  float* sums = parts == 1 ? nullptr : device.template workspace<float>(parts * out.to.rows * out.to.cols);
  const on_gpu::Projecting<T> job{.e = e,
                                  .in = in,
                                  .out = out.to,
                                  .begin = rows.begin,
                                  .end = rows.end,
                                  .blocks = blocks,
                                  .k = static_cast<int>(k),
                                  .width = static_cast<int>(width),
                                  .col_tiles = static_cast<int>(col_tiles),
                                  .part_terms = static_cast<int>(terms),
                                  .parts = sums,
                                  .add = out.add};
  const dim3 grid(static_cast<unsigned>(rows.count * blocks * col_tiles), static_cast<unsigned>(row_tiles),
                  static_cast<unsigned>(parts));
  if constexpr (std::is_same_v<T, bfloat16>) {
    // More stages exceed the shared memory of some GPUs.
    static_assert(on_gpu::shared_bytes<2, 2>() <= kSharedEverywhere);
    if (large && device.has_wgmma())
      launch(device, what, {grid, 256, on_gpu::shared_bytes<2, 3>()}, on_gpu::project_mma<Transposed, 2, 3>, job);
    else if (large)
      launch(device, what, {grid, 256, on_gpu::shared_bytes<2, 2>()}, on_gpu::project_mma<Transposed, 2, 2>, job);
    else if (tensor_cores)
      launch(device, what, {grid, 128, on_gpu::shared_bytes<1, 2>()}, on_gpu::project_mma<Transposed, 1, 2>, job);
  }
  if (!tensor_cores) launch(device, what, {grid, 256}, on_gpu::project<Transposed, T>, job);
  if (parts > 1) sum_projection_parts(device, out.to, out.add, sums, parts, out.to.cols);
}

template <class T>
void ragged_projection(Cuda<T>& device, const RaggedProjectionArgs<Cuda<T>>& args) {
  project_sentences<false, T>(device, "ragged_projection", args.projection, args.rows, args.blocks, args.x, {args.y});
}

template <class T>
void ragged_projection_input_gradient(Cuda<T>& device, const RaggedProjectionInputGradientArgs<Cuda<T>>& args) {
  project_sentences<true, T>(device, "ragged_projection_input_gradient", args.projection, args.rows, args.blocks, args.dy,
                             args.dx);
}

template <class T>
void ragged_projection_weight_gradient(Cuda<T>& device, const RaggedProjectionWeightGradientArgs<Cuda<T>>& args) {
  namespace on_gpu = kernels::projection;
  const Matrix<float> to = args.dprojection;
  const Ragged rows = args.rows;
  const Index k = to.rows / args.blocks, width = args.dy.cols / args.blocks;
  if (rows.longest == 0 || k == 0 || width == 0) return;
  const bool tensor_cores = std::is_same_v<T, bfloat16> && in_packs(args.dy.data, width, args.dy.stride) &&
                            in_packs(args.x.data, width, args.x.stride) && in_packs(to.data, to.cols, to.stride) &&
                            to.cols % 8 == 0;
  const bool large = tensor_cores && k > 64 && rows.rows > 64 * rows.count;
  const Index tile = large ? 128 : 64, row_tiles = divide_up(k, tile), col_tiles = divide_up(rows.longest, tile);

  // Enough groups to fill the GPU, counting the tiles that a sentence of mean length reaches; but few if one sentence is so
  // long that most tiles would be zeros.
  const Index room = (large ? 1 : 2) * device.multiprocessors(), all_rows = args.blocks * row_tiles;
  const Index busy = all_rows * std::min(col_tiles, rows.rows / (tile * rows.count) + 1);
  const Index most = std::clamp<Index>(std::min(room / busy, 4 * room / (all_rows * col_tiles)), 1, rows.count);
  const Index groups = divide_up(rows.count, divide_up(rows.count, most));

  const Index stride = col_tiles * tile;
  float* sums = groups == 1 ? nullptr : device.template workspace<float>(groups * to.rows * stride);
  const on_gpu::ProjectingWeight<T> job{.dy = args.dy,
                                        .x = args.x,
                                        .begin = rows.begin,
                                        .end = rows.end,
                                        .sentences = rows.count,
                                        .k = static_cast<int>(k),
                                        .width = static_cast<int>(width),
                                        .row_tiles = static_cast<int>(row_tiles),
                                        .to = groups == 1 ? to : Matrix<float>(sums, to.rows, stride),
                                        .part = to.rows * stride,
                                        .add = groups == 1};
  const dim3 grid(static_cast<unsigned>(groups), static_cast<unsigned>(col_tiles), static_cast<unsigned>(all_rows));
  const char* what = "ragged_projection_weight_gradient";
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (large && device.has_wgmma())
      launch(device, what, {grid, 256, on_gpu::shared_bytes<2, 4>()}, on_gpu::project_weight_mma<2, 4>, job);
    else if (large)
      launch(device, what, {grid, 256, on_gpu::shared_bytes<2, 2>()}, on_gpu::project_weight_mma<2, 2>, job);
    else if (tensor_cores)
      launch(device, what, {grid, 128, on_gpu::shared_bytes<1, 4>()}, on_gpu::project_weight_mma<1, 4>, job);
  }
  if (!tensor_cores) launch(device, what, {grid, 256}, on_gpu::project_weight<T>, job);
  if (groups > 1) sum_projection_parts(device, to.columns(0, std::min(stride, to.cols)), true, sums, groups, stride);
}

}  // namespace attn
