#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"

// Second pass of reductions: adds the blocks' float partial sums in a fixed order.

namespace attn {
namespace kernels {

/// Stores the sums in a matrix.
template <class T>
struct SumsToMatrix {
  T* data;
  Index row_step, col_step = 1;

  __device__ T* operator()(Index row, Index col) const { return data + row * row_step + col * col_step; }
};
/// Stores the sums in vectors; skips null ones.
template <int Count>
struct SumsToVectors {
  float* vectors[Count];

  __device__ float* operator()(Index row, Index col) const {
    float* found = nullptr;
#pragma unroll
    for (int i = 0; i < Count; ++i)  // indexing would make the compiler copy the vectors to local memory
      if (i == row) found = vectors[i];
    return found == nullptr ? nullptr : found + col;
  }
};

template <int Slices>
inline constexpr int kPartThreads = Slices < 8 ? 256 / Slices : 32;  // threads of a block side by side along a row

/// Sets to(row, col) to the sum over i of row i * rows + row of the parts, or adds it. A thread sums N columns of every
/// Slices-th part.
template <int Slices, int N, class To>
__global__ void __launch_bounds__(Slices* kPartThreads<Slices>)
    sum_parts(To to, Index cols, bool add, const float* parts, int count, Index stride) {
  using T = std::remove_pointer_t<decltype(to(0, 0))>;
  constexpr int kThreads = kPartThreads<Slices>;
  const int slice = static_cast<int>(threadIdx.x) / kThreads, thread = static_cast<int>(threadIdx.x) % kThreads;
  const Index row = blockIdx.y, col = (Index{blockIdx.x} * kThreads + thread) * N;
  T* const place = col < cols ? to(row, col) : nullptr;
  __shared__ Pack<float, N> sums[Slices][kThreads];
  Pack<float, N> sum{};
  const auto add_pack = [&](const Pack<float, N>& more) {
#pragma unroll
    for (int k = 0; k < N; ++k) sum.set(k, sum[k] + more[k]);
  };
  if (place != nullptr) {
#pragma unroll 8
    for (int i = slice; i < count; i += Slices) add_pack(load_pack<N>(parts + (Index{i} * gridDim.y + row) * stride + col));
  }
  sums[slice][thread] = sum;
  __syncthreads();
  if (slice > 0 || place == nullptr) return;
#pragma unroll
  for (int i = 1; i < Slices; ++i) add_pack(sums[i][thread]);
  Pack<T, N> result{};
  if (add) result = load_pack<N>(place);
#pragma unroll
  for (int k = 0; k < N; ++k) result.set(k, result[k] + sum[k]);
  store_pack(place, result);
}

/// Sets number n to scale * the sum over i of parts[i * Numbers + n], or adds it. Runs in one block.
template <int Numbers>
__global__ void __launch_bounds__(1024)
    sum_numbers(SumsToVectors<Numbers> to, bool add, const float* parts, Index count, float scale) {
  float sums[Numbers] = {};
  for (Index i = threadIdx.x; i < count; i += 1024)
#pragma unroll
    for (int n = 0; n < Numbers; ++n) sums[n] += parts[i * Numbers + n];
#pragma unroll
  for (int n = 0; n < Numbers; ++n) {
    const float sum = scale * block_sum<32>(sums[n]);
    if (threadIdx.x == 0) *to.vectors[n] = (add ? *to.vectors[n] : 0) + sum;
  }
}

}  // namespace kernels

/// Sums `count` parts of `rows` rows, which are `stride` elements apart. fours: rows of the parts and of the result are
/// aligned to four elements, and cols is a multiple of 4.
template <class T, class To>
void sum_parts(Cuda<T>& device, const char* what, const To& to, Index rows, Index cols, bool add, const float* parts,
               Index count, Index stride, bool fours = false) {
  const auto run = [&]<int Slices, int N>() {
    constexpr int kThreads = kernels::kPartThreads<Slices>;
    const dim3 blocks(static_cast<unsigned>(divide_up(cols, kThreads * N)), static_cast<unsigned>(rows));
    launch(device, what, {blocks, Slices * kThreads}, kernels::sum_parts<Slices, N, To>, to, cols, add, parts, count,
           stride);
  };
  if (fours) return count < 32 ? run.template operator()<2, 4>() : run.template operator()<8, 4>();
  count <= 16 ? run.template operator()<8, 1>() : run.template operator()<32, 1>();
}

/// Sums `count` parts of a few numbers.
template <class T, class... To>
void sum_numbers(Cuda<T>& device, const char* what, bool add, const float* parts, Index count, float scale, To*... to) {
  launch(device, what, {{1}, 1024}, kernels::sum_numbers<sizeof...(To)>, kernels::SumsToVectors<sizeof...(To)>{{to...}},
         add, parts, count, scale);
}

}  // namespace attn
