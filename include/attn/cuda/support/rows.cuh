#pragma once
#include <cfloat>

#include "attn/cuda/support/launch.cuh"
#include "attn/cuda/support/vector_types.cuh"
#include "attn/ops/dropout.hpp"

// Shared by the row-wise kernels. A warp processes a row, each lane N elements at a time: a pack of 16 bytes if all rows
// begin on 16-byte boundaries and are whole packs long, else 1.

namespace attn {

template <class... T>
bool in_packs(const Matrix<T>&... matrices) {
  return (in_packs(matrices.data, matrices.cols, matrices.stride) && ...);
}

/// Calls run<N>() with the pack size, or with 1.
template <class T, class Run>
void with_packs(bool packs, const Run& run) {
  if (packs)
    run.template operator()<Pack<T>::size>();
  else
    run.template operator()<1>();
}

inline constexpr int kRowWarps = 8;  // per block at most, one row each

/// Distributes few rows over as many multiprocessors.
inline Spread warp_a_row(Index rows) {
  const Index warps = std::clamp<Index>(divide_up(rows, 128), 1, kRowWarps);
  return {{static_cast<unsigned>(divide_up(rows, warps))}, static_cast<unsigned>(32 * warps)};
}

/// The same, but splits few rows among warps with N columns per lane, so that no warp loops over a row.
template <int N>
Spread warps_a_row(Index rows, Index cols) {
  Spread spread = warp_a_row(rows);
  if (rows <= 512) spread.blocks.y = static_cast<unsigned>(std::min<Index>(divide_up(cols, 32 * N), 64));
  return spread;
}

__device__ inline Index row_of_warp() { return Index{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32; }
__device__ inline int lane_of_warp() { return static_cast<int>(threadIdx.x) % 32; }

/// Calls visit(j) for the first of every N columns of this lane, in a row that one or several warps share.
template <int N, class Visit>
__device__ void for_each_column(Index cols, const Visit& visit) {
  for (int j = (static_cast<int>(blockIdx.y) * 32 + lane_of_warp()) * N; j < cols;
       j += static_cast<int>(gridDim.y) * 32 * N)
    visit(j);
}

template <class T>
__device__ T* row_of(const Matrix<T>& matrix, Index i) {
  return matrix.data + i * matrix.stride;
}

/// Sets or adds to N elements of row i, from column j on.
template <int N, class T>
__device__ void put(const Sink<T>& sink, Index i, int j, const float (&numbers)[N]) {
  T* place = row_of(sink.to, i) + j;
  Pack<T, N> sum{};
  if (sink.add) sum = load_pack<N>(place);
  unrolled<N>([&](int k) { sum.set(k, sum[k] + numbers[k]); });
  store_pack(place, sum);
}

/// The dropout factors of N columns, from j on; all 1 without dropout.
template <int N>
struct Factors {
  float numbers[N];

  __device__ Factors(const Dropout::Row& row, int j) {
    unrolled<N>([&](int k) { numbers[k] = 1; });
    if (row.threshold == 0) return;
    unrolled<N>([&](int k) { numbers[k] = row(static_cast<std::uint32_t>(j + k)); });
  }
  __device__ float operator[](int k) const { return numbers[k]; }
};

/// Calls step<N>(at) for each pack of a flat array, one per thread, and step<1>(at) for the elements after the last pack.
template <int N, class Step>
__device__ void for_each_pack(Index count, const Step& step) {
  Index at = (Index{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (at + N <= count) return step.template operator()<N>(at);
#pragma unroll 1
  for (; at < count; ++at) step.template operator()<1>(at);
}

namespace kernels {

/// Warp-level: the last sentence that begins at row i or earlier, or -1. Each search step compares 32 sentences.
__device__ inline int sentence_of(const Ragged& rows, Index i) {
  int first = 0, count = static_cast<int>(rows.count);
  while (true) {
    const int step = (count + 31) / 32, place = lane_of_warp() * step;
    const bool begun = place < count && rows.begin[first + place] <= i;
    const int found = __popc(__ballot_sync(0xffffffffU, begun)) - 1;
    if (found < 0 || step <= 1) return found < 0 ? -1 : first + found;
    first += found * step;
    count = min(step, count - found * step);
  }
}

/// e^x: accurate in float, else by the hardware's ex2, which for x <= 0 is accurate to 1e-6 of the sum.
template <class T>
__device__ float exponential(float x) {
  if constexpr (std::is_same_v<T, float>) return expf(x);
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));
  return power;
}

/// The maximum of a row, and the sum of exp(x - maximum). The sum is 0 for a row that is empty or all -inf.
struct RowExponentials {
  float most, sum;
};

/// All 32 * Warps threads of a block call this and get the result. Each thread rescales its sum when its maximum grows.
template <int Warps, class T>
__device__ RowExponentials row_exponentials(const T* row, int count) {
  float most = -FLT_MAX, sum = 0;
  for (int j = static_cast<int>(threadIdx.x); j < count; j += 32 * Warps) {
    const float x = to_float(row[j]);
    if (x > most) {
      sum *= exponential<T>(most - x);
      most = x;
    }
    sum += exponential<T>(x - most);
  }
  const float peak = block_max<Warps>(most);
  return {peak, block_sum<Warps>(sum * exponential<T>(most - peak))};
}

}  // namespace kernels

/// Launches a kernel with one block per row: `narrow` has one warp, `wide`, for rows of more than 256 columns, eight.
template <class Device, class... Parameters, class... Arguments>
void launch_row_blocks(Device& device, const char* what, Index rows, Index cols, void (*narrow)(Parameters...),
                       void (*wide)(Parameters...), const Arguments&... arguments) {
  const bool fits = cols <= 256;
  launch(device, what, {{static_cast<unsigned>(rows)}, fits ? 32U : 256U}, fits ? narrow : wide, arguments...);
}

}  // namespace attn
