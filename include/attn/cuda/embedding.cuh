#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/overlap.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sort.cuh"
#include "attn/ops/embedding.hpp"

// The gradient sorts the rows by token, so that rows of one token form a run, and splits the sorted rows into
// segments of 8, one warp each:
//
//   sum_runs    sums the pieces of runs in a segment. A run within one segment goes to the table; a piece of a run that began
//               earlier is the segment's head, a piece of one that begins here and continues is its tail
//   join_runs   adds up a tail and the heads after it
//
// The order of every sum is fixed, and many warps share the rows of a frequent token.

namespace attn {
namespace kernels {

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) embedding(EmbeddingArgs<Cuda<T>> args, float scale) {
  const Index i = row_of_warp();
  if (i >= args.y.rows) return;
  const int sentence =
      sentence_of(args.rows, i);  // the host uploads the layout and no kernel writes it: safe before wait_for_earlier()
  if (sentence < 0 || i >= args.rows.end[sentence]) return;  // a row outside all sentences
  const Index place = i - args.rows.begin[sentence];
  wait_for_earlier();
  let_next_begin();
  const T* table = row_of(args.table, args.tokens[i]);
  const T* position = nullptr;
  if (args.positions.data != nullptr) {
    const Index first = args.first_positions != nullptr ? args.first_positions[sentence] : args.first_position;
    position = row_of(args.positions, first + place);
  }
  const Dropout::Row row = args.dropout.row(i);
  for_each_column<N>(args.y.cols, [&](int j) {
    const Pack<T, N> numbers = load_pack<N>(table + j);
    Pack<T, N> shift{}, y;
    if (position != nullptr) shift = load_pack<N>(position + j);
    const Factors<N> factors(row, j);
    for (int k = 0; k < N; ++k) y.set(k, (scale * numbers[k] + shift[k]) * factors[k]);
    store_pack(row_of(args.y, i) + j, y);
  });
}

inline constexpr int kSegment = 8;  // short: each run ends with a dependent read and write of the table

/// numbers += *from, and *to += scale * numbers.
template <int N>
__device__ void add_from(float (&numbers)[N], const float* from) {
  const Pack<float, N> more = load_pack<N>(from);
  for (int k = 0; k < N; ++k) numbers[k] += more[k];
}
template <int N>
__device__ void add_to(float* to, const float (&numbers)[N], float scale) {
  Pack<float, N> sum = load_pack<N>(to);
  for (int k = 0; k < N; ++k) sum.set(k, sum[k] + scale * numbers[k]);
  store_pack(to, sum);
}

/// parts: segments x 2 x width, heads and tails. Blocks: segments x slices of 32 * N columns.
template <int N, class T>
__global__ void __launch_bounds__(32)
    sum_runs(EmbeddingGradientArgs<Cuda<T>> args, float scale, const TokenAt* sorted, int count, float* parts) {
  constexpr unsigned kAllLanes = 0xffffffffU;
  const int lane = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * kSegment;
  const int rows = min(kSegment, count - first), width = static_cast<int>(args.dy.cols);
  const int j = static_cast<int>(blockIdx.y * 32 + threadIdx.x) * N;
  const bool inside = j < width;
  float* head = parts + Index{blockIdx.x} * 2 * width + j;
  const TokenAt mine = lane < rows ? sorted[first + lane] : TokenAt{};
  const Token before = first > 0 ? sorted[first - 1].token : -1;
  const Token after = first + rows < count ? sorted[first + rows].token : -1;

  float sum[N] = {};
  Pack<T, N> dy[kSegment];
#pragma unroll
  for (int r = 0; r < kSegment; ++r) {
    const int i = __shfl_sync(kAllLanes, mine.row, r);
    if (r < rows && inside) dy[r] = load_pack<N>(row_of(args.dy, i) + j);
  }
#pragma unroll
  for (int r = 0; r < kSegment; ++r) {
    if (r >= rows) break;
    const Token token = __shfl_sync(kAllLanes, mine.token, r);
    const Token next = r + 1 < rows ? __shfl_sync(kAllLanes, mine.token, r + 1) : after;
    const Factors<N> factors(args.dropout.row(__shfl_sync(kAllLanes, mine.row, r)), j);
    for (int k = 0; k < N; ++k) sum[k] += factors[k] * dy[r][k];
    if (token == next && r + 1 < rows) continue;
    if (inside) {
      Pack<float, N> piece;
      for (int k = 0; k < N; ++k) piece.set(k, sum[k]);
      if (token == before)
        store_pack(head, piece);
      else if (token == next)
        store_pack(head + width, piece);
      else
        add_to(row_of(args.dtable, token) + j, sum, scale);
    }
    for (int k = 0; k < N; ++k) sum[k] = 0;
  }
}

template <int N, class T>
__global__ void __launch_bounds__(32)
    join_runs(EmbeddingGradientArgs<Cuda<T>> args, float scale, const TokenAt* sorted, int count, const float* parts) {
  const int first = static_cast<int>(blockIdx.x) * kSegment, end = first + kSegment;
  if (end >= count) return;
  const Token token = sorted[end].token;
  if (sorted[end - 1].token != token || (first > 0 && sorted[first - 1].token == token))
    return;  // no run begins here and continues
  const int width = static_cast<int>(args.dy.cols), j = static_cast<int>(blockIdx.y * 32 + threadIdx.x) * N;
  const bool inside = j < width;
  float sum[N] = {};
  if (inside) add_from(sum, parts + (Index{blockIdx.x} * 2 + 1) * width + j);
  int heads = 32;
  for (Index segment = Index{blockIdx.x} + 1; heads == 32; segment += 32) {
    const Index begin = (segment + threadIdx.x) * kSegment;
    heads = __popc(__ballot_sync(0xffffffffU, begin < count && sorted[begin].token == token));
    if (!inside) continue;
    float some[N] = {};  // a partial sum, to limit rounding errors
#pragma unroll 4
    for (int h = 0; h < heads; ++h) add_from(some, parts + (segment + h) * 2 * width + j);
    for (int k = 0; k < N; ++k) sum[k] += some[k];
  }
  if (inside) add_to(row_of(args.dtable, token) + j, sum, scale);
}

template <class T>
__global__ void sinusoid(Matrix<T> positions, bool halves, double base) {
  const Index p = blockIdx.x, sines = (positions.cols + 1) / 2;
  for (int j = static_cast<int>(threadIdx.x); j < positions.cols; j += static_cast<int>(blockDim.x)) {
    const bool sine = halves ? j < sines : j % 2 == 0;
    const Index twice = halves ? 2 * (sine ? j : j - sines) : j - j % 2;
    const double angle =
        static_cast<double>(p) * pow(base, -static_cast<double>(twice) / static_cast<double>(positions.cols));
    row_of(positions, p)[j] = from_float<T>(static_cast<float>(sine ? sin(angle) : cos(angle)));
  }
}

}  // namespace kernels

template <class T>
void embedding(Cuda<T>& device, const EmbeddingArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.table, args.positions, args.y), [&]<int N>() {
    launch_overlapping(device, "embedding", warps_a_row<N>(args.y.rows, args.y.cols), kernels::embedding<N, T>, args,
                       args.scale);
  });
}

template <class T>
void embedding_gradient(Cuda<T>& device, const EmbeddingGradientArgs<Cuda<T>>& args) {
  const Index count = args.dy.rows, width = args.dy.cols, segments = divide_up(count, kernels::kSegment);
  if (count == 0) return;
  const Index parts_size = 2 * segments * width;
  float* parts = device.template workspace<float>(parts_size + 2 * sort_space(count));
  const TokenAt* sorted =
      sort_by_token(device, args.tokens, count, args.dtable.rows, reinterpret_cast<TokenAt*>(parts + parts_size));
  with_packs<T>(in_packs(args.dy, args.dtable), [&]<int N>() {
    const Spread spread{{static_cast<unsigned>(segments), static_cast<unsigned>(divide_up(width, 32 * N))}, 32};
    launch(device, "embedding_gradient", spread, kernels::sum_runs<N, T>, args, args.scale, sorted, count, parts);
    launch(device, "embedding_gradient", spread, kernels::join_runs<N, T>, args, args.scale, sorted, count, parts);
  });
}

template <class T>
void sinusoid(Cuda<T>& device, Matrix<typename Cuda<T>::Scalar> positions, SinusoidOrder order = SinusoidOrder::alternating,
              double base = 10000) {
  launch(device, "sinusoid", {{static_cast<unsigned>(positions.rows)}, 256}, kernels::sinusoid<T>, positions,
         order == SinusoidOrder::halves, base);
}

}  // namespace attn
