#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"

// Second pass of reductions, which adds the blocks' float partial sums in a fixed order, and sums of rows in one pass.

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
    unrolled<Count>([&](int i) {
      // indexing would make the compiler copy the vectors to local memory
      if (i == row) found = vectors[i];
    });
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
  const auto add_pack = [&](const Pack<float, N>& more) { unrolled<N>([&](int k) { sum.set(k, sum[k] + more[k]); }); };
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
  unrolled<N>([&](int k) { result.set(k, result[k] + sum[k]); });
  store_pack(place, result);
}

/// Sets number n to scale * the sum over i of parts[i * Numbers + n], or adds it. Runs in one block.
template <int Numbers>
__global__ void __launch_bounds__(1024)
    sum_numbers(SumsToVectors<Numbers> to, bool add, const float* parts, Index count, float scale) {
  float sums[Numbers] = {};
  for (Index i = threadIdx.x; i < count; i += 1024) unrolled<Numbers>([&](int n) { sums[n] += parts[i * Numbers + n]; });
  unrolled<Numbers>([&](int n) {
    const float sum = scale * block_sum<32>(sums[n]);
    if (threadIdx.x == 0) *to.vectors[n] = (add ? *to.vectors[n] : 0) + sum;
  });
}

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
      unrolled<kAtOnce>([&](int r) {
        // without branches, so that the loads are in flight together
        const Index at = min(i + r * kRows, end - 1);
        numbers[r] = load_pack<N>(row_of(x, at) + column);
        if constexpr (Gated) gates[r] = load_pack<N>(row_of(gate, at) + column);
      });
#pragma unroll
      for (int r = 0; r < kAtOnce; ++r) {
        if (i + r * kRows >= end) continue;
        if constexpr (Gated) {
          unrolled<N>([&](int k) {
            if (!(gates[r][k] > 0)) numbers[r].set(k, 0);
          });
          store_pack(gated + (i + r * kRows) * x.stride + column, numbers[r]);
        }
        unrolled<N>([&](int k) { sum[k] += numbers[r][k]; });
      }
    }
  if (Gated && sums == nullptr) return;

  __shared__ alignas(16) float shared[kRows][kColumns];
  const auto add_rows =
      [&](int count) {  // sums the first `count` shared rows, a multiple of 4, in four partial sums to round less
        for (int j = thread; j < kColumns; j += kSumThreads) {
          float total[4] = {};
#pragma unroll 4
          for (int i = 0; i < count; i += 4) unrolled<4>([&](int k) { total[k] += shared[i + k][j]; });
          shared[0][j] = (total[0] + total[1]) + (total[2] + total[3]);
        }
      };
  unrolled<N>([&](int k) { shared[thread / kSumLanes][lane * N + k] = sum[k]; });
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
