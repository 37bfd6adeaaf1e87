#pragma once
#include "attn/cuda/linear.cuh"
#include "attn/cuda/lstm/walk.cuh"

// LSTM with one or two kernels per step: for the single steps of decoding and input feeding, which need no grid barrier,
// and for weights that exceed the shared memory of all multiprocessors together.

namespace attn {
namespace kernels {

inline constexpr int kStepParts = 4;  // warps that split a product's terms; each then has one of a lane's four elements
inline constexpr int kStepTiles = 4;  // tiles of 16 sentences per block at most

struct LstmPosition {
  Index sentence = 0, row = 0;
  int length = 0;

  __device__ LstmPosition(const Ragged& rows, Index s, bool reverse, int t) : sentence(s) {
    length = rows.end[s] - rows.begin[s];
    row = reverse ? rows.end[s] - 1 - t : rows.begin[s] + t;
  }
};

/// Loads 16 bytes of a row of `terms` elements, from term k on; zeros past its end, or if it is null.
template <bool Packs, class T>
__device__ Pack<T> load_terms(const T* row, int k, int terms) {
  Pack<T> pack{};
  if (row == nullptr || k >= terms) return pack;
  if constexpr (Packs) {
    pack = load_pack(row + k);
  } else {
    for (int i = 0; i < Pack<T>::size; ++i)
      if (k + i < terms) pack.numbers[i] = row[k + i];
  }
  return pack;
}

/// Computes step t of 8 units. A warp processes 16 sentences, all four gates, and a part of the terms.
template <bool Packs, class T>
__global__ void __launch_bounds__(32 * kStepParts * kStepTiles) lstm_step(LstmArgs<Cuda<T>> args, int t) {
  extern __shared__ uint4 lstm_shared[];
  const int width = static_cast<int>(args.h.cols), lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32;
  const int part = warp % kStepParts, tile = warp / kStepParts, tiles = static_cast<int>(blockDim.x) / (32 * kStepParts);
  const int first_unit = static_cast<int>(blockIdx.x) * 8, direction = args.reverse ? -1 : 1;
  const Index first = (Index{blockIdx.y} * tiles + tile) * 16 + lane / 4;
  const auto before = [&](const auto& states, const Matrix<const T>& initial, const LstmPosition& place) -> const T* {
    if (t > 0) return row_of(states, place.row - direction);
    return initial.data == nullptr ? nullptr : row_of(initial, place.sentence);
  };

  // Loads the other inputs of the thread's own unit before the product.
  const int unit = first_unit + lane % 4 * 2 + part % 2;
  const Index mine = first + part / 2 * 8;
  const bool there = mine < args.rows.count && unit < width;
  const LstmPosition place(args.rows, there ? args.order[mine] : 0, args.reverse, t);
  const bool now = there && t < place.length;
  float gate[4] = {}, c = 0;
  T h = from_float<T>(0);
  if (there && (now || t == 0)) {
    const T *h_before = before(args.h, args.h0, place), *c_before = before(args.c, args.c0, place);
    if (h_before != nullptr) h = h_before[unit];
    if (c_before != nullptr) c = to_float(c_before[unit]);
  }
  if (now)
    for (int i = 0; i < 4; ++i) gate[i] = to_float(row_of(args.gates, place.row)[i * width + unit]);

  if (t > 0 || args.h0.data != nullptr) {
    const T* rows[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (const Index i = first + half * 8; i < args.rows.count) {
        const LstmPosition other(args.rows, args.order[i], args.reverse, t);
        if (t < other.length) rows[half] = before(args.h, args.h0, other);
      }
    float sums[4][4] = {};
    const int chunks = (width + kLstmChunk - 1) / kLstmChunk;
    multiply_chunks<T, 2>(
        sums, part * chunks / kStepParts, (part + 1) * chunks / kStepParts, 4,
        [&](int half, int k) { return load_terms<Packs>(rows[half], k, width); },
        [&](int n, int k) {  // each tile of columns is one gate
          const int at = first_unit + n % 8;
          return load_terms<Packs>(at < width ? row_of(args.recurrent, Index{n / 8} * width + at) : nullptr, k, width);
        });
    float(*parts)[4][4][32] =
        reinterpret_cast<float(*)[4][4][32]>(lstm_shared) + tile * kStepParts;  // gates, elements, lanes
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) parts[part][i][j][lane] = sums[i][j];
    __syncthreads();
#pragma unroll
    for (int other = 0; other < kStepParts; ++other)
      for (int i = 0; i < 4; ++i) gate[i] += parts[other][i][part][lane];
  }

  if (now) {
    row_of(args.previous, place.row)[unit] = h;
    h = from_float<T>(lstm_unit<T>(gate, c));
    row_of(args.h, place.row)[unit] = h;
    row_of(args.c, place.row)[unit] = from_float<T>(c);
    for (int i = 0; i < 4; ++i) row_of(args.gates, place.row)[i * width + unit] = from_float<T>(gate[i]);
  }
  if (!there || t != max(place.length - 1, 0)) return;
  if (args.last_h.data != nullptr) row_of(args.last_h, place.sentence)[unit] = h;
  if (args.last_c.data != nullptr) row_of(args.last_c, place.sentence)[unit] = from_float<T>(c);
}

/// State passed from step to step of a gradient, one row per sentence.
template <class T>
struct LstmStepSpace {
  Matrix<T> dgates;      // of the step, 0 where the sentence has ended
  Matrix<float> dh, dc;  // from the step after it
};

/// Computes step t, except for the product that step t - 1 needs.
template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps)
    lstm_step_gradient(LstmGradientArgs<Cuda<T>> args, LstmStepSpace<T> space, int t) {
  const LstmArgs<Cuda<T>>& forward = args.forward;
  const Index s = row_of_warp();
  if (s >= forward.rows.count) return;
  const LstmPosition place(forward.rows, s, forward.reverse, t);
  const int width = static_cast<int>(forward.h.cols), direction = forward.reverse ? -1 : 1;
  const bool last = t == place.length - 1;
  for (int j = lane_of_warp() * N; j < width; j += 32 * N) {
    const Pack<T, N> last_h = load_or_zero<N>(args.dlast_h, s, j), last_c = load_or_zero<N>(args.dlast_c, s, j);
    float dh[N], dc[N];
    for (int n = 0; n < N; ++n) dh[n] = last_h[n], dc[n] = last_c[n];
    Pack<T, N> gates[4] = {};
    if (t < place.length) {
      if (!last) {
        const Pack<float, N> h = load_pack<N>(row_of(space.dh, s) + j), c = load_pack<N>(row_of(space.dc, s) + j);
        for (int n = 0; n < N; ++n) dh[n] = h[n], dc[n] = c[n];
      }
      const Pack<T, N> dy = load_or_zero<N>(args.dh, place.row, j), c = load_pack<N>(row_of(forward.c, place.row) + j),
                       c_before = t > 0 ? load_pack<N>(row_of(forward.c, place.row - direction) + j)
                                        : load_or_zero<N>(forward.c0, s, j);
      for (int i = 0; i < 4; ++i) gates[i] = load_pack<N>(row_of(forward.gates, place.row) + i * width + j);
      for (int n = 0; n < N; ++n) {
        float gate[4] = {gates[0][n], gates[1][n], gates[2][n], gates[3][n]};
        lstm_unit_gradient<T>(gate, c_before[n], c[n], dy[n] + dh[n], dc[n]);
        for (int i = 0; i < 4; ++i) gates[i].set(n, gate[i]);
        dh[n] = 0;  // the rest comes from the product
      }
      for (int i = 0; i < 4; ++i) store_pack(row_of(args.dgates, place.row) + i * width + j, gates[i]);
    }
    for (int i = 0; i < 4; ++i) store_pack(row_of(space.dgates, s) + i * width + j, gates[i]);
    if (t == 0) {
      if (args.dh0.to.data != nullptr) put(args.dh0, s, j, dh);
      if (args.dc0.to.data != nullptr) put(args.dc0, s, j, dc);
    } else if (t < place.length) {
      Pack<float, N> c;
      for (int n = 0; n < N; ++n) c.set(n, dc[n]);
      store_pack(row_of(space.dc, s) + j, c);
    }
  }
}

}  // namespace kernels

template <class T>
void lstm_stepwise(Cuda<T>& device, const LstmArgs<Cuda<T>>& args) {
  const Index tiles = std::clamp<Index>(divide_up(args.rows.count, 16), 1, kernels::kStepTiles);
  const auto warps = static_cast<unsigned>(kernels::kStepParts * tiles);
  const Spread spread{
      {static_cast<unsigned>(divide_up(args.h.cols, 8)), static_cast<unsigned>(divide_up(args.rows.count, 16 * tiles))},
      32 * warps,
      warps * 16 * 32 * sizeof(float)};
  const bool packs = in_packs(args.recurrent, args.h0, args.h);
  for (int t = 0; t < std::max<Index>(args.rows.longest, 1); ++t)
    launch(device, "lstm", spread, packs ? kernels::lstm_step<true, T> : kernels::lstm_step<false, T>, args, t);
}

template <class T>
void lstm_gradient_stepwise(Cuda<T>& device, const LstmGradientArgs<Cuda<T>>& args) {
  const LstmArgs<Cuda<T>>& forward = args.forward;
  const Index count = forward.rows.count, width = forward.h.cols, numbers = divide_up(count * width, 8) * 8;
  float* memory = device.template workspace<float>(6 * numbers);
  const kernels::LstmStepSpace<T> space{{reinterpret_cast<T*>(memory + 2 * numbers), count, 4 * width},
                                        {memory, count, width},
                                        {memory + numbers, count, width}};
  const bool packs = in_packs(forward.gates, forward.c, forward.c0, args.dh, args.dlast_h, args.dlast_c, args.dgates,
                              args.dh0.to, args.dc0.to);
  for (int t = static_cast<int>(std::max<Index>(forward.rows.longest, 1)) - 1; t >= 0; --t) {
    with_packs<T>(packs, [&]<int N>() {
      launch(device, "lstm_gradient", warp_a_row(count), kernels::lstm_step_gradient<N, T>, args, space, t);
    });
    if (t > 0)
      gemm(device, GemmArgs<T, float>{.a = space.dgates, .b = forward.recurrent, .c = space.dh});
    else if (args.dh0.to.data != nullptr)
      gemm(device, GemmArgs<T, T>{.a = space.dgates, .b = forward.recurrent, .c = args.dh0.to, .add = true});
  }
}

}  // namespace attn
