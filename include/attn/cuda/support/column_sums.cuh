#pragma once
#include <algorithm>

#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"

namespace attn {
namespace kernels {

inline constexpr int kSumThreads = 256, kSumLanes = 16;  // threads per block, and those side by side along a row

/// sums[j] += the sum over rows of x[i, j]. With a gate, first zeroes x where the gate is not positive. A block sums some
/// rows of kSumLanes * N columns; the last block of a group of columns adds the partial sums in a fixed order.
template <bool Gated, int N, class T>
__global__ void __launch_bounds__(kSumThreads) column_sums(Matrix<const T> x, Index rows_a_block, Matrix<const T> gate,
                                                           T* gated, float* parts, unsigned* tickets, float* sums) {
  constexpr int kColumns = kSumLanes * N, kRows = kSumThreads / kSumLanes, kAtOnce = Gated ? 4 : 8;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kSumLanes;
  const Index first = Index{blockIdx.x} * kColumns, column = first + lane * N;
  const Index begin = rows_a_block * blockIdx.y, end = min(begin + rows_a_block, x.rows);

  float sum[N] = {};
  if (column < x.cols)
    for (Index i = begin + thread / kSumLanes; i < end; i += kAtOnce * kRows) {
      Pack<T, N> numbers[kAtOnce], gates[Gated ? kAtOnce : 1];
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {  // without branches, so that the loads are in flight together
        const Index at = min(i + r * kRows, end - 1);
        numbers[r] = load_pack<N>(row_of(x, at) + column);
        if constexpr (Gated) gates[r] = load_pack<N>(row_of(gate, at) + column);
      }
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        if (i + r * kRows >= end) continue;
        if constexpr (Gated) {
#pragma unroll
          for (int k = 0; k < N; ++k)
            if (!(gates[r][k] > 0)) numbers[r].set(k, 0);
          store_pack(gated + (i + r * kRows) * x.stride + column, numbers[r]);
        }
#pragma unroll
        for (int k = 0; k < N; ++k) sum[k] += numbers[r][k];
      }
    }
  if (Gated && sums == nullptr) return;

  __shared__ alignas(16) float shared[kRows][kColumns];
  const auto add_rows =
      [&](int count) {  // sums the first `count` shared rows, a multiple of 4, in four partial sums to round less
        for (int j = thread; j < kColumns; j += kSumThreads) {
          float total[4] = {};
#pragma unroll 4
          for (int i = 0; i < count; i += 4)
#pragma unroll
            for (int k = 0; k < 4; ++k) total[k] += shared[i + k][j];
          shared[0][j] = (total[0] + total[1]) + (total[2] + total[3]);
        }
      };
#pragma unroll
  for (int k = 0; k < N; ++k) shared[thread / kSumLanes][lane * N + k] = sum[k];
  __syncthreads();
  add_rows(kRows);
  if (gridDim.y > 1) {
    float* all = parts + Index{blockIdx.x} * gridDim.y * kColumns;
    for (int j = thread; j < kColumns; j += kSumThreads) all[Index{blockIdx.y} * kColumns + j] = shared[0][j];
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (thread == 0) last = atomicAdd(&tickets[blockIdx.x], 1U) == gridDim.y - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    constexpr int kFours = kColumns / 4, kParts = kSumThreads / kFours < kRows ? kSumThreads / kFours : kRows;
    static_assert(kRows % 4 == 0 && kParts % 4 == 0);
    if (thread < kFours * kParts) {
      float4 total = {};
#pragma unroll 8
      for (unsigned i = static_cast<unsigned>(thread / kFours); i < gridDim.y; i += kParts) {
        const float4 part = __ldcg(reinterpret_cast<const float4*>(all + Index{i} * kColumns) + thread % kFours);
        total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
      }
      *reinterpret_cast<float4*>(&shared[thread / kFours][thread % kFours * 4]) = total;
    }
    __syncthreads();
    add_rows(kParts);
    if (thread == 0) tickets[blockIdx.x] = 0;
  }
  for (int j = thread; j < kColumns && first + j < x.cols; j += kSumThreads) sums[first + j] += shared[0][j];
}

}  // namespace kernels

/// Adds the sum of a matrix's rows to `sums`: the gradient of a bias. With a gate, first zeroes the matrix where the gate
/// is not positive; `sums` may then be null.
template <class T>
void column_sums(Cuda<T>& device, Matrix<const T> x, float* sums, Matrix<const T> gate = {}, T* gated = nullptr) {
  if (x.rows == 0 || x.cols == 0) return;
  const auto aligned = [](const auto& m) { return in_packs(m.data, Pack<T>::size, m.stride); };
  if (const Index whole = x.cols / Pack<T>::size * Pack<T>::size;
      whole > 0 && whole < x.cols && aligned(x) && aligned(gate)) {  // packs, then the remaining columns
    const auto part = [&](Index first, Index count) {
      column_sums(device, x.columns(first, count), sums == nullptr ? nullptr : sums + first,
                  gated == nullptr ? gate : gate.columns(first, count), gated == nullptr ? nullptr : gated + first);
    };
    part(0, whole);
    return part(whole, x.cols - whole);
  }
  with_packs<T>(in_packs(x, gate), [&]<int N>() {
    constexpr Index kColumns = kernels::kSumLanes * N;
    const Index groups = divide_up(x.cols, kColumns), full = divide_up(8 * device.multiprocessors(), groups);
    const Index splits = std::clamp<Index>(divide_up(x.rows, 128), 1, std::min<Index>(full, 64));
    const Index rows_a_block = divide_up(x.rows, splits);
    const Spread spread{{static_cast<unsigned>(groups), static_cast<unsigned>(splits)}, kernels::kSumThreads};
    launch(device, "column_sums", spread,
           gated == nullptr ? kernels::column_sums<false, N, T> : kernels::column_sums<true, N, T>, x, rows_a_block, gate,
           gated, device.template workspace<float>(groups * splits * kColumns), device.tickets(groups), sums);
  });
}

}  // namespace attn
