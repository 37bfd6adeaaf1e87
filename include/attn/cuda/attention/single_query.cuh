#pragma once
#include "attn/cuda/attention/rows.cuh"
#include "attn/cuda/support/overlap.cuh"

// Attention of one query per sentence: a decoder step. A block processes one head of one sentence; one kernel computes all
// gradients. Groups of eight lanes take a key each; in sums over keys, each warp takes 64 columns. Older keys and values
// are prefetched while the kernel waits for the query, which is in shared memory as float, zero-padded to a multiple of 64.

namespace attn {
namespace kernels {

inline constexpr int kSingleWarps = 16, kSingleThreads = 32 * kSingleWarps, kSingleRows = kSingleWarps * kRowsAtOnce;

__host__ __device__ constexpr int up_to_64(int width) { return (width + 63) / 64 * 64; }

/// Copies a row to shared memory; zeros if it is null.
template <class T>
__device__ void stage_row(float* to, const T* row, int width) {
  for (int j = static_cast<int>(threadIdx.x); j < up_to_64(width); j += kSingleThreads)
    to[j] = row != nullptr && j < width ? to_float(row[j]) : 0;
}

/// Loads eight columns of a staged row.
__device__ inline void load_staged(float (&x)[8], const float* row, int column) {
#pragma unroll
  for (int i = 0; i < 8; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(row + column + i);
    x[i] = four.x, x[i + 1] = four.y, x[i + 2] = four.z, x[i + 3] = four.w;
  }
}

/// Block-level: products[j] = factor * x · row j for `count` rows and a staged x.
template <int N, class T>
__device__ void multiply_rows(float* products, float factor, const float* x, const T* rows, Index stride, int count,
                              int width) {
  const int mine = static_cast<int>(threadIdx.x) / 8;
  for (int j = mine; j - row_of_lane() < count; j += kSingleRows) {
    const T* row = rows + row_offset(min(j, count - 1), stride);
    float sum = 0;
    constexpr int kAtOnce = 8;
    for (int first = column_of_lane(); first < width; first += kAtOnce * 64) {
      float b[kAtOnce][8];  // loads in flight together
      unrolled<kAtOnce>([&](int i) { load_eight<N>(b[i], row, first + 64 * i, width); });
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + 64 * i >= width) break;
        float a[8], some = 0;  // partial sum, to limit rounding errors
        load_staged(a, x, first + 64 * i);
        unrolled<8>([&](int k) { some += a[k] * b[i][k]; });
        sum += some;
      }
    }
    sum = warp_sum<8>(sum);
    if (j < count && column_of_lane() == 0) products[j] = factor * sum;
  }
}

/// Block-level: each warp prefetches every 16th row.
template <class T>
__device__ void prefetch_rows(const T* rows, Index stride, int count, int width) {
  constexpr int kLine = 128 / sizeof(T);
  for (int j = static_cast<int>(threadIdx.x) / 32; j < count; j += kSingleWarps)
    for (int column = lane_of_warp() * kLine; column < width; column += 32 * kLine)
      prefetch(rows + row_offset(j, stride) + column);
}

template <int N, class T>
__global__ void __launch_bounds__(kSingleThreads)
    single_attention(const AttentionArgs<Cuda<T>> args, const AttentionBlocks blocks) {
  extern __shared__ float4 single_shared[];
  if (!args.prefetch_keys) wait_for_earlier();
  const AttentionTask<T> task(args, blocks);
  if (args.prefetch_keys) {
    prefetch_rows(task.key(args.k, 0), args.k.stride, task.keys, task.width);
    prefetch_rows(task.key_values(args.v, 0), args.v.stride, task.keys, task.value_width);
    wait_for_earlier();
  }
  let_next_begin();
  if (task.queries == 0) return;
  auto* const x = reinterpret_cast<float*>(single_shared);  // width
  float* const p = x + up_to_64(task.width);                // keys
  const int thread = static_cast<int>(threadIdx.x);
  stage_row(x, task.query(args.q, 0), task.width);
  __syncthreads();
  multiply_rows<N>(p, static_cast<float>(args.scale), x, task.key(args.k, 0), args.k.stride, task.keys, task.width);
  __syncthreads();
  const Softmax softmax(p, task.keys);  // every warp computes the same
  __syncthreads();
  const bool drop = args.dropout.rate > 0;
  Dropout::Row factors = args.dropout.row(0);
  factors.key = task.random_key(args, 0);
  for (int j = thread; j < task.keys; j += kSingleThreads) p[j] = softmax(p[j]) * (drop ? factors(j) : 1);
  if (thread == 0) args.lse[task.statistic(0, args.heads)] = softmax.log_sum_exp();
  __syncthreads();
  sum_rows<N>(
      task.key_values(args.v, 0), args.v.stride, task.keys, task.value_width, [&](int j) { return p[j]; },
      [&](int column, const float(&y)[8]) {
        put_eight<N>(task.query_values(args.y, 0), column, task.value_width, y, false);
      },
      thread / 32 * 64, kSingleWarps * 64);
}

/// Keys and values of a sentence without a query get gradient 0.
template <int N, class T>
__global__ void __launch_bounds__(kSingleThreads)
    single_attention_gradient(const AttentionGradientArgs<Cuda<T>> args, const AttentionBlocks blocks) {
  extern __shared__ float4 single_shared[];
  const AttentionArgs<Cuda<T>>& forward = args.forward;
  const AttentionTask<T> task(forward, blocks);
  auto* const x = reinterpret_cast<float*>(single_shared);  // width: q
  float* const dy = x + up_to_64(task.width);               // value width
  float* const p = dy + up_to_64(task.value_width);         // keys: scores, then dropout(P)
  float* const ds = p + task.keys;                          // keys: dP, then scale * dS
  const int thread = static_cast<int>(threadIdx.x);
  const bool asks = task.queries > 0;
  const auto scale = static_cast<float>(forward.scale);
  stage_row(x, asks ? task.query(forward.q, 0) : nullptr, task.width);
  stage_row(dy, asks ? task.query_values(args.dy, 0) : nullptr, task.value_width);
  __syncthreads();
  multiply_rows<N>(p, scale, x, task.key(forward.k, 0), forward.k.stride, task.keys, task.width);
  multiply_rows<N>(ds, 1, dy, task.key_values(forward.v, 0), forward.v.stride, task.keys, task.value_width);
  __syncthreads();
  const bool drop = forward.dropout.rate > 0;
  Dropout::Row factors = forward.dropout.row(0);
  factors.key = task.random_key(forward, 0);
  const auto factor = [&](int j) { return drop ? factors(static_cast<std::uint32_t>(j)) : 1; };
  const Softmax softmax(p, task.keys);
  float delta = 0;
  for (int j = lane_of_warp(); j < task.keys; j += 32) delta += softmax(p[j]) * (ds[j] * factor(j));
  delta = warp_sum(delta);
  __syncthreads();
  for (int j = thread; j < task.keys; j += kSingleThreads) {
    const float weight = softmax(p[j]), kept = factor(j);
    p[j] = weight * kept;
    ds[j] = scale * weight * (ds[j] * kept - delta);
  }
  __syncthreads();
  if (asks)
    sum_rows<N>(
        task.key(forward.k, 0), forward.k.stride, task.keys, task.width, [&](int j) { return ds[j]; },
        [&](int column, const float(&dq)[8]) {
          put_eight<N>(task.query(args.dq.to, 0), column, task.width, dq, args.dq.add);
        },
        thread / 32 * 64, kSingleWarps * 64);
  __syncthreads();  // dQ may alias the memory that dK is added to
  const auto put_product = [&](T* row, int width, float weight, const float* with, bool add) {
    for (int column = column_of_lane(); column < width; column += 64) {
      float product[8];
      load_staged(product, with, column);
      unrolled<8>([&](int k) { product[k] *= weight; });
      put_eight<N>(row, column, width, product, add);
    }
  };
  for (int j = thread / 8; j < task.keys; j += kSingleRows) {
    put_product(task.key(args.dk.to, j), task.width, ds[j], x, args.dk.add);
    put_product(task.key_values(args.dv.to, j), task.value_width, p[j], dy, args.dv.add);
  }
}

template <class T>
std::size_t single_shared_bytes(const AttentionArgs<Cuda<T>>& args) {
  const Index staged = up_to_64(static_cast<int>(args.q.cols / args.heads)) +
                       up_to_64(static_cast<int>(args.v.cols / args.heads)) + 2 * args.keys.longest;
  return static_cast<std::size_t>(staged) * sizeof(float);
}

}  // namespace kernels

/// Whether every sentence has at most one query, and scores and rows fit in shared memory.
template <class T>
bool single_query(const Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  return args.queries.longest == 1 &&
         kernels::single_shared_bytes(args) <= device.properties().sharedMemPerBlockOptin - 1024;
}

template <class T>
void single_attention(Cuda<T>& device, const AttentionArgs<Cuda<T>>& args) {
  const kernels::AttentionBlocks blocks(args, args.queries, 1);
  const auto fits = [&](const auto&... m) { return in_packs(m...) && ((m.cols / args.heads % Pack<T>::size == 0) && ...); };
  with_packs<T>(fits(args.q, args.k, args.v, args.y), [&]<int N>() {
    launch_overlapping(device, "attention of one query",
                       {blocks.all, kernels::kSingleThreads, kernels::single_shared_bytes(args)},
                       kernels::single_attention<N, T>, args, blocks);
  });
}

template <class T>
void single_attention_gradient(Cuda<T>& device, const AttentionGradientArgs<Cuda<T>>& args) {
  const AttentionArgs<Cuda<T>>& f = args.forward;
  const kernels::AttentionBlocks blocks(f, f.queries, 1);
  const auto fits = [&](const auto&... m) { return in_packs(m...) && ((m.cols / f.heads % Pack<T>::size == 0) && ...); };
  with_packs<T>(fits(f.q, f.k, f.v, args.dy, args.dq.to, args.dk.to, args.dv.to), [&]<int N>() {
    launch(device, "the gradient of attention of one query",
           {blocks.all, kernels::kSingleThreads, kernels::single_shared_bytes(f)}, kernels::single_attention_gradient<N, T>,
           args, blocks);
  });
}

}  // namespace attn
