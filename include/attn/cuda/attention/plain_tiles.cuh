#pragma once
#include "attn/cuda/attention/task.cuh"
#include "attn/cuda/support/cluster.cuh"

// 256 threads compute tiles of 64 x 64; each has 4 x 4 elements: rows y + 16 i, columns x + 16 j. Operands pass through
// shared memory 64 columns at a time.

namespace attn::kernels {

/// Up to 64 rows of a head, starting at some column.
template <class T>
struct Rows {
  T* data;
  Index stride;
  int rows, cols;
};
template <class T, class U>
__device__ Rows<U> query_rows(const AttentionTask<T>& task, const Matrix<U>& m, int first, int col = 0) {
  return {task.query(m, first) + col, m.stride, task.queries - first, task.width - col};
}
template <class T, class U>
__device__ Rows<U> key_rows(const AttentionTask<T>& task, const Matrix<U>& m, int first, int col = 0) {
  return {task.key(m, first) + col, m.stride, task.keys - first, task.width - col};
}
template <class T, class U>
__device__ Rows<U> query_value_rows(const AttentionTask<T>& task, const Matrix<U>& m, int first, int col = 0) {
  return {task.query_values(m, first) + col, m.stride, task.queries - first, task.value_width - col};
}
template <class T, class U>
__device__ Rows<U> key_value_rows(const AttentionTask<T>& task, const Matrix<U>& m, int first, int col = 0) {
  return {task.key_values(m, first) + col, m.stride, task.keys - first, task.value_width - col};
}

struct PlainTiles {
  static constexpr int kThreads = 256;
  using Numbers = float[4][4];

  float a[64][65], b[64][65];  // padded by a column to avoid bank conflicts

  __device__ static int x() { return static_cast<int>(threadIdx.x) % 16; }
  __device__ static int y() { return static_cast<int>(threadIdx.x) / 16; }

  template <class T>
  __device__ static void load(float (&tile)[64][65], const Rows<T>& from, int first) {
    for (int i = static_cast<int>(threadIdx.x); i < 64 * 64; i += kThreads) {
      const int row = i / 64, col = first + i % 64;
      tile[row][i % 64] = row < from.rows && col < from.cols ? to_float(from.data[row * from.stride + col]) : 0;
    }
  }
  __device__ void put(const Numbers& numbers) {
    unrolled<4, 4>([&](int i, int j) { a[y() + 16 * i][x() + 16 * j] = numbers[i][j]; });
  }
  __device__ static void add(Numbers& out, const Numbers& sum) {
    unrolled<4, 4>([&](int i, int j) { out[i][j] += sum[i][j]; });
  }
  /// out = A Bᵀ, summed in groups of 16 terms to limit rounding errors. The blocks of a cluster need the same scores: each
  /// sums over some of the columns, and add_up() adds their results.
  template <class T>
  __device__ void scores(Numbers& out, const Rows<T>& from_a, const Rows<T>& from_b) {
    unrolled<4, 4>([&](int i, int j) { out[i][j] = 0; });
    const int blocks = cluster_blocks();
    for (int chunk = 64 * cluster_rank(); chunk < from_a.cols; chunk += 64 * blocks) {
      __syncthreads();
      load(a, from_a, chunk);
      load(b, from_b, chunk);
      __syncthreads();
      for (int some = 0; some < 64; some += 16) {
        Numbers sum = {};
#pragma unroll 4
        for (int k = some; k < some + 16; ++k)
          unrolled<4, 4>([&](int i, int j) { sum[i][j] += a[y() + 16 * i][k] * b[x() + 16 * j][k]; });
        add(out, sum);
      }
    }
    if (blocks > 1) add_up(out, blocks);
  }
  /// out = its sum over the cluster, in rank order, so that all blocks get the same bits
  __device__ void add_up(Numbers& out, int blocks) {
    __syncthreads();
    put(out);
    sync_cluster();
    for (int rank = 0; rank < blocks; ++rank) {
      const float* its = of_rank(&a[y()][x()], rank);
      unrolled<4, 4>([&](int i, int j) { out[i][j] = its[16 * i * 65 + 16 * j] + (rank == 0 ? 0 : out[i][j]); });
    }
    sync_cluster();  // all blocks have read
  }
  /// out += weights B, 64 columns of B per slice of out, also summed in groups of 16 terms
  template <int Slices, class T>
  __device__ void add_weighted(Numbers (&out)[Slices], const Numbers& weights, const Rows<T>& from_b) {
#pragma unroll
    for (int slice = 0; slice < Slices; ++slice) {
      if (64 * slice >= from_b.cols) break;
      __syncthreads();
      if (slice == 0) put(weights);
      load(b, from_b, 64 * slice);
      __syncthreads();
#pragma unroll 1  // several slices would take ptxas ten seconds
      for (int some = 0; some < 64; some += 16) {
        Numbers sum = {};
#pragma unroll 4
        for (int k = some; k < some + 16; ++k)
          unrolled<4, 4>([&](int i, int j) { sum[i][j] += a[y() + 16 * i][k] * b[k][x() + 16 * j]; });
        add(out[slice], sum);
      }
    }
  }
  template <int Slices, class T>
  __device__ static void store(const Numbers (&numbers)[Slices], float factor, const Rows<T>& to, bool add) {
#pragma unroll
    for (int slice = 0; slice < Slices; ++slice)
      unrolled<4, 4>([&](int i, int j) {
        const int row = y() + 16 * i, col = 64 * slice + x() + 16 * j;
        if (row >= to.rows || col >= to.cols) return;
        T& place = to.data[row * to.stride + col];
        place = from_float<T>(factor * numbers[slice][i][j] + (add ? to_float(place) : 0));
      });
  }
};

}  // namespace attn::kernels
