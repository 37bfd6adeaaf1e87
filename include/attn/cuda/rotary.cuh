#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/embedding.hpp"

namespace attn {
namespace kernels {

/// One warp per row; each lane rotates N pairs at once.
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
void rotary(Cuda<T>& device, const RotaryArgs<Cuda<T>>& args) {
  const bool packs = in_packs(args.x, args.y.to) && in_packs(args.table) && args.table.cols / 2 % Pack<T>::size == 0;
  with_packs<T>(packs, [&]<int N>() {
    launch(device, "rotary", warps_a_row<N>(args.x.rows, args.x.cols / 2), kernels::rotary<N, T>, args);
  });
}

}  // namespace attn
