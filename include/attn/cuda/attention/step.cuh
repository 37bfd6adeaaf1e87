#pragma once
#include "attn/cuda/attention/rows.cuh"
#include "attn/cuda/rowwise.cuh"
#include "attn/cuda/support/overlap.cuh"

// Attention of one query per sentence with heads of up to 128 columns: a decoder step. A block processes one head of one
// sentence, with one warp if there are many blocks, else with four that split the keys. Each group of eight lanes takes
// every 4th or 16th key, several at once, and adds the weighted values to its own sum. It keeps a running maximum of the
// scores (online softmax). In the end the groups and warps are reduced, always in the same order.
//
// If there are few blocks, the kernel prefetches older keys and values while it waits for the queries. Rows not yet
// appended to the KV cache are read from append.from with the queries; each block appends the columns of its head.

namespace attn {
namespace kernels {

/// Partial softmax over some keys. `y`: the sum of the weighted values; a lane has eight of 64 columns.
template <int Slices>
struct StepSums {
  float most = -INFINITY, sum = 0, y[Slices][8] = {};

  /// Factor for a sum when its maximum changes from `before` to `now`.
  static __device__ float factor(float before, float now) { return before == now ? 1 : expf(before - now); }

  /// Adds the sums of two lanes; both get the result.
  __device__ void meet(int other_lane) {
    const auto other = [&](float x) { return __shfl_xor_sync(0xffffffffU, x, other_lane); };
    const float now = fmaxf(most, other(most)), mine = factor(most, now);
    sum *= mine;
    sum += other(sum);
    unrolled<Slices, 8>([&](int s, int c) {
      y[s][c] *= mine;
      y[s][c] += other(y[s][c]);
    });
    most = now;
  }
};

/// Slices: slices of 64 columns per head. Listed: row_indices gives the rows of the keys. Appends: row i of append.from
/// holds key and value of sentence i's last key side by side and is written to row append.to_row[i]. Without packs, both are
/// known at run time. A multiprocessor runs 32 warps if 64 registers per thread are enough, else 16.
template <int Warps, int Slices, int N, bool MayList, bool MayAppend, class T>
__global__ void __launch_bounds__(32 * Warps, (Slices == 1 && N == 8 ? 32 : 16) / Warps)
    step_attention(const AttentionArgs<Cuda<T>> args, const AttentionBlocks blocks, const MoveRowsArgs<Cuda<T>> append) {
  constexpr int kGroups = Warps * kRowsAtOnce, kAtOnce = 4 / Slices;  // groups per block, keys in flight per group
  const bool listed = N == 1 ? args.keys.row_indices != nullptr : MayList;
  const bool appends = N == 1 ? append.to_row != nullptr : MayAppend;
  const bool ahead = Warps > 1 && (appends || args.prefetch_keys);  // many blocks hide the latency
  if (!ahead) wait_for_earlier();
  const AttentionTask<T> task(args, blocks);
  const int warp = static_cast<int>(threadIdx.x) / 32, group = static_cast<int>(threadIdx.x) / 8;
  const auto row_of_key = [&](int j) { return listed ? args.keys.row_indices[task.first_key + j] : task.first_key + j; };
  if (ahead) {
#pragma unroll 1
    for (int j = group; j < task.keys - (appends ? 1 : 0); j += kGroups) {
      const int row = row_of_key(j), column = column_of_lane() * 8;  // eight lanes, 64 elements apart: a line or two each
      if (column < task.width) prefetch(task.in_row(args.k, row, task.width) + column);
      if (column < task.value_width) prefetch(task.in_row(args.v, row, task.value_width) + column);
    }
    wait_for_earlier();
  }
  let_next_begin();
  if (task.queries == 0) return;
  const auto scale = static_cast<float>(args.scale);
  float q[Slices][8];
  unrolled<Slices>([&](int s) {
    load_eight<N>(q[s], task.query(args.q, 0), column_of_lane() + 64 * s, task.width);
    unrolled<8>([&](int c) { q[s][c] *= scale; });
  });

  StepSums<Slices> mine;
  const T* const newest_key = row_of(append.from, appends ? task.first_query : 0) + task.head * task.width;
  const T* const newest_value = newest_key + args.k.cols - task.head * (task.width - task.value_width);
  for (int first = 0; first < task.keys; first += kGroups * kAtOnce) {
    float k[kAtOnce][Slices][8], v[kAtOnce][Slices][8], score[kAtOnce];
    unrolled<kAtOnce>([&](int i) {
      const int j = min(first + i * kGroups + group, task.keys - 1);
      const int row = row_of_key(j);
      const T *key = task.in_row(args.k, row, task.width), *value = task.in_row(args.v, row, task.value_width);
      if (appends && j == task.keys - 1) key = newest_key, value = newest_value;
      unrolled<Slices>([&](int s) {
        load_eight<N>(k[i][s], key, column_of_lane() + 64 * s, task.width);
        load_eight<N>(v[i][s], value, column_of_lane() + 64 * s, task.value_width);
      });
    });
    float now = mine.most;
    unrolled<kAtOnce>([&](int i) {
      score[i] = 0;
      unrolled<Slices, 8>([&](int s, int c) { score[i] += q[s][c] * k[i][s][c]; });
      score[i] = warp_sum<8>(score[i]);
      if (first + i * kGroups + group >= task.keys) score[i] = -INFINITY;
      now = fmaxf(now, score[i]);
    });
    const float before = mine.factor(mine.most, now);
    mine.sum *= before;
    unrolled<Slices, 8>([&](int s, int c) { mine.y[s][c] *= before; });
    unrolled<kAtOnce>([&](int i) {
      const bool seen = first + i * kGroups + group < task.keys;
      const float weight = seen ? expf(score[i] - now) : 0;
      mine.sum += weight;
      unrolled<Slices, 8>([&](int s, int c) { mine.y[s][c] += weight * v[i][s][c]; });
    });
    mine.most = now;
  }
  if (appends && group < 2) {  // one writes the key, one the value
    const int width = group == 0 ? task.width : task.value_width;
    const Index column = group == 0 ? task.head * task.width : args.k.cols + task.head * task.value_width;
    T* const to = row_of(append.to.to, append.to_row[task.first_query]) + column;
    const T* const from = row_of(append.from, task.first_query) + column;
    unrolled<Slices>([&](int s) {
      float x[8];
      load_eight<N>(x, from, column_of_lane() + 64 * s, width);
      put_eight<N>(to, column_of_lane() + 64 * s, width, x, false);
    });
  }
  mine.meet(8);
  mine.meet(16);

  __shared__ float sums[Warps][2], ys[Warps][Slices * 64];
  if (row_of_lane() == 0) {
    if (column_of_lane() == 0) sums[warp][0] = mine.most, sums[warp][1] = mine.sum;
    unrolled<Slices, 8>([&](int s, int c) { ys[warp][64 * s + column_of_lane() + c] = mine.y[s][c]; });
  }
  __syncthreads();
  float most = sums[0][0], sum = 0, factors[Warps];
#pragma unroll
  for (int w = 1; w < Warps; ++w) most = fmaxf(most, sums[w][0]);
  unrolled<Warps>([&](int w) {
    factors[w] = mine.factor(sums[w][0], most);
    sum += factors[w] * sums[w][1];
  });
  if (threadIdx.x == 0) args.lse[task.statistic(0, args.heads)] = most + logf(sum);
  const int column = static_cast<int>(threadIdx.x) * 8;
  if (column >= task.value_width) return;
  float y[8] = {};
  unrolled<Warps, 8>([&](int w, int c) { y[c] += factors[w] * ys[w][column + c]; });
  unrolled<8>([&](int c) { y[c] = sum == 0 ? 0 : y[c] / sum; });
  put_eight<N>(task.query_values(args.y, 0), column, task.value_width, y, false);
}

}  // namespace kernels

/// The held-back move_rows into the KV cache that attention is about to read; else null.
template <class T>
const MoveRowsArgs<Cuda<T>>* rows_to_append(const Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const auto* rows = device.deferred(run_move_rows<T>);
  const Index count = args.queries.count;
  return rows != nullptr && rows->count == count && args.queries.rows == count && rows->to.to.data == args.k.data &&
                 rows->to.to.cols == args.k.cols + args.v.cols && rows->to.to.stride == args.k.stride &&
                 args.v.data == args.k.data + args.k.cols && args.v.stride == args.k.stride
             ? rows
             : nullptr;
}

template <class T>
void step_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  MoveRowsArgs<Cuda<T>> append{};
  if (const auto* found = rows_to_append(device, args)) {
    append = *found;
    device.drop_deferred();
  }
  const kernels::AttentionBlocks blocks(args, args.queries, 1);
  const auto fits = [&](const auto&... m) { return in_packs(m...) && ((m.cols / args.heads % Pack<T>::size == 0) && ...); };
  const bool narrow = std::max(args.q.cols, args.v.cols) <= 64 * args.heads, listed = args.keys.row_indices != nullptr;
  const bool many =
      blocks.all > 8U * static_cast<unsigned>(device.multiprocessors());  // enough to hide each other's latency
  const bool packs = fits(args.q, args.k, args.v, args.y) && (append.to_row == nullptr || in_packs(append.from));
  with_packs<T>(packs, [&]<int N>() {
    const auto run = [&]<int Warps, bool Listed, bool Appends>() {
      launch_overlapping(device, "attention of a step", Spread{{blocks.all}, 32 * Warps},
                         narrow ? kernels::step_attention<Warps, 1, N, Listed, Appends, T>
                                : kernels::step_attention<Warps, 2, N, Listed, Appends, T>,
                         args, blocks, append);
    };
    const auto choose = [&]<int Warps>() {
      if constexpr (N == 1)
        run.template operator()<Warps, true, true>();
      else if (append.to_row != nullptr)
        listed ? run.template operator()<Warps, true, true>() : run.template operator()<Warps, false, true>();
      else
        listed ? run.template operator()<Warps, true, false>() : run.template operator()<Warps, false, false>();
    };
    many ? choose.template operator()<1>() : choose.template operator()<4>();
  });
}

}  // namespace attn
