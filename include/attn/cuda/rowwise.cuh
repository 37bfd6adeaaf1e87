#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/embedding.hpp"
#include "attn/ops/move_rows.hpp"
#include "attn/ops/reductions.hpp"

// Ops that copy, repeat, fill, drop or rotate elements of rows. A warp or several process a row: see support/rows.cuh.

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) move_rows(MoveRowsArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.count) return;
  const T* from = row_of(args.from, args.from_row == nullptr ? i : args.from_row[i]);
  T* to = row_of(args.to.to, args.to_row == nullptr ? i : args.to_row[i]);
  for_each_column<N>(args.from.cols, [&](int j) {
    Pack<T, N> pack = load_pack<N>(from + j);
    if (args.to.add) {
      const Pack<T, N> before = load_pack<N>(to + j);
      for (int k = 0; k < N; ++k) pack.set(k, before[k] + pack[k]);
    }
    store_pack(to + j, pack);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) repeat_heads(RepeatHeadsArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.x.rows) return;
  const int width = static_cast<int>(args.width), times = static_cast<int>(args.times);
  for_each_column<N>(args.y.cols, [&](int j) {
    const int head = j / width;
    store_pack(row_of(args.y, i) + j, load_pack<N>(row_of(args.x, i) + head / times * width + j - head * width));
  });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) repeat_heads_gradient(RepeatHeadsGradientArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.dy.rows) return;
  const int width = static_cast<int>(args.width), times = static_cast<int>(args.times);
  for_each_column<N>(args.dx.to.cols, [&](int j) {
    const int head = j / width;
    float sums[N] = {};
    for (int r = 0; r < times; ++r) {
      const auto part = load_pack<N>(row_of(args.dy, i) + (head * times + r) * width + j - head * width);
      for (int k = 0; k < N; ++k) sums[k] += part[k];
    }
    put(args.dx, i, j, sums);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) fill_rows(FillArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.y.to.rows) return;
  const auto value = static_cast<float>(args.value);
  float values[N];
  for (int k = 0; k < N; ++k) values[k] = value;
  for_each_column<N>(args.y.to.cols, [&](int j) { put(args.y, i, j, values); });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) dropout(DropoutArgs<Cuda<T>> args) {
  wait_for_earlier();
  let_next_begin();
  const Index i = row_of_warp();
  if (i >= args.x.rows) return;
  const Dropout::Row row = args.dropout.row(i);
  for_each_column<N>(args.x.cols, [&](int j) {
    Pack<T, N> sum{};
    if (args.y.add) sum = load_pack<N>(row_of(args.y.to, i) + j);
    const Pack<T, N> numbers = load_pack<N>(row_of(args.x, i) + j);
    const Factors<N> factors(row, j);
    for (int k = 0; k < N; ++k) sum.set(k, sum[k] + factors[k] * numbers[k]);
    store_pack(row_of(args.y.to, i) + j, sum);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) rotary(RotaryArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.x.rows) return;
  const int sentence = sentence_of(args.rows, i);
  if (sentence < 0 || i >= args.rows.end[sentence]) return;  // a row outside all sentences
  const Index first = args.first_positions != nullptr ? args.first_positions[sentence] : args.first_position;
  const T* angle = row_of(args.table, first + i - args.rows.begin[sentence]);
  const int half = static_cast<int>(args.table.cols) / 2;
  for_each_column<N>(args.x.cols / 2, [&](int point) {
    const int head = point / half, j = point - head * half, column = 2 * head * half + j;
    const T* x = row_of(args.x, i) + column;
    const auto a = load_pack<N>(x), b = load_pack<N>(x + half), sines = load_pack<N>(angle + j),
               cosines = load_pack<N>(angle + j + half);
    float left[N], right[N];
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const float sine = args.inverse ? -sines[k] : sines[k];
      left[k] = a[k] * cosines[k] - b[k] * sine;
      right[k] = b[k] * cosines[k] + a[k] * sine;
    }
    put(args.y, i, column, left);
    put(args.y, i, column + half, right);
  });
}

}  // namespace kernels

template <class T>
void run_move_rows(Cuda<T>& device, const MoveRowsArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.from, args.to.to), [&]<int N>() {
    launch_overlapping(device, "move_rows", warps_a_row<N>(args.count, args.from.cols), kernels::move_rows<N, T>, args);
  });
}

/// Rows appended to a KV cache are held back for the attention that reads them (attention/step.cuh), which saves a kernel.
template <class T>
void move_rows(Cuda<T>& device, const MoveRowsArgs<Cuda<T>>& args) {
  args.appends ? device.defer(args, run_move_rows<T>) : run_move_rows(device, args);
}

template <class T>
void repeat_heads(Cuda<T>& device, const RepeatHeadsArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.x, args.y) && args.width % Pack<T>::size == 0, [&]<int N>() {
    launch(device, "repeat_heads", warps_a_row<N>(args.y.rows, args.y.cols), kernels::repeat_heads<N, T>, args);
  });
}

template <class T>
void repeat_heads_gradient(Cuda<T>& device, const RepeatHeadsGradientArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.dy, args.dx.to) && args.width % Pack<T>::size == 0, [&]<int N>() {
    launch(device, "repeat_heads_gradient", warps_a_row<N>(args.dx.to.rows, args.dx.to.cols),
           kernels::repeat_heads_gradient<N, T>, args);
  });
}

template <class T>
void fill(Cuda<T>& device, const FillArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.y.to), [&]<int N>() {
    launch(device, "fill", warps_a_row<N>(args.y.to.rows, args.y.to.cols), kernels::fill_rows<N, T>, args);
  });
}

template <class T>
void dropout(Cuda<T>& device, const DropoutArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.x, args.y.to), [&]<int N>() {
    launch_overlapping(device, "dropout", warps_a_row<N>(args.x.rows, args.x.cols), kernels::dropout<N, T>, args);
  });
}

template <class T>
void rotary(Cuda<T>& device, const RotaryArgs<Cuda<T>>& args) {
  const bool packs = in_packs(args.x, args.y.to) && in_packs(args.table) && args.table.cols / 2 % Pack<T>::size == 0;
  with_packs<T>(packs, [&]<int N>() {
    launch(device, "rotary", warps_a_row<N>(args.x.rows, args.x.cols / 2), kernels::rotary<N, T>, args);
  });
}

}  // namespace attn
