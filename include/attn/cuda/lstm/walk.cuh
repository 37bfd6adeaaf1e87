#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/lstm/cell.cuh"
#include "attn/cuda/support/grid_barrier.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/tensor_core.cuh"
#include "attn/ops/lstm.hpp"

// How the steps of an LSTM are distributed. A block owns some units and runs a group of sentences, adjacent in `order`,
// through all steps; its part of the recurrent weights stays in shared memory. If all weights fit there, a block owns all
// units and needs no grid barrier. Else the blocks of a group, one per slice of the units, synchronise between steps and
// exchange states through global memory. Several LSTMs run side by side in blocks (., ., way).

namespace attn::kernels {

inline constexpr int kLstmWarps = 16, kLstmThreads = 32 * kLstmWarps;
inline constexpr int kLstmCells = 2;  // cells per thread, kept in registers from step to step

/// lstm_tiles: tiles of 8 columns that a warp multiplies at once; all tiles of a block where states come from global
/// memory. lstm_ahead: chunks of states in flight meanwhile.
__host__ __device__ constexpr int lstm_tiles(bool alone, bool backward) { return alone ? 4 : backward ? 2 : 8; }
__host__ __device__ constexpr int lstm_ahead(bool alone, bool backward) { return backward && !alone ? 4 : 2; }

template <class T>
struct LstmWalk {
  int width, units, slices;     // units: of a block, a multiple of 8
  int sentences, groups;        // sentences: of a group, a multiple of 16
  int terms, columns, parts;    // of a step's product; `parts` warps split its terms
  bool packs;                   // the weights can be read in packs
  T* exchange = nullptr;        // ways x 2 x groups x sentences x stride; null if a block owns all units
  unsigned* tickets = nullptr;  // 2 for each row of blocks

  __host__ __device__ int stride() const { return lstm_stride<T>(terms); }
  __host__ __device__ int sums_stride() const { return columns + 8; }  // rows begin in different banks
  __host__ __device__ Index exchanged() const { return Index{2} * groups * sentences * stride(); }  // elements per way
  std::size_t shared() const {
    const std::size_t rows = static_cast<std::size_t>(columns + (slices == 1 ? 2 * sentences : 0));
    return rows * static_cast<std::size_t>(stride()) * sizeof(T) +
           static_cast<std::size_t>(sentences) * static_cast<std::size_t>(parts * sums_stride() + 3) * 4;
  }
};

template <class Args, std::size_t Ways>
struct LstmWays {
  Args way[Ways];

  __device__ const Args& of_block() const { return way[Ways == 1 ? 0 : blockIdx.z]; }
};

/// The contents of a block's shared memory, and its block-level operations.
template <class T, bool Alone, bool Backward>
struct LstmBlock {
  const LstmWalk<T>& walk;
  T *weights, *near, *exchange;
  float* sums;                         // parts x sentences x columns
  int *sentence, *first_row, *length;  // of each sentence of the group
  int stride, first_unit, group = 0, members = 0;
  unsigned arrivals = 0;

  __device__ LstmBlock(const LstmWalk<T>& how, void* shared) : walk(how), stride(how.stride()) {
    weights = static_cast<T*>(shared);
    near = weights + walk.columns * stride;
    exchange = walk.exchange + blockIdx.z * walk.exchanged();
    sums = reinterpret_cast<float*>(near + (Alone ? 2 * walk.sentences * stride : 0));
    sentence = reinterpret_cast<int*>(sums + walk.parts * walk.sentences * walk.sums_stride());
    first_row = sentence + walk.sentences;
    length = first_row + walk.sentences;
    first_unit = static_cast<int>(blockIdx.x) * walk.units;
  }

  /// Row i of the states that the group's blocks exchange at an even or an odd step.
  __device__ T* states(int odd, int i) const {
    if (Alone) return near + (odd * walk.sentences + i) * stride;
    return exchange + ((Index{odd} * walk.groups + group) * walk.sentences + i) * stride;
  }

  /// Forward: column n of the weights is row n % units of gate n / units. Copies whole rows, one pack or element at once.
  __device__ void fill_from_rows(const Matrix<const T>& recurrent) const {
    const int N = walk.packs ? Pack<T>::size : 1, packs = stride / N;
    for (int at = static_cast<int>(threadIdx.x); at < walk.columns * packs; at += kLstmThreads) {
      const int n = at / packs, k = at % packs * N, unit = first_unit + n % walk.units;
      const bool there = unit < walk.width && k < walk.width;
      const T* from = row_of(recurrent, there ? Index{n / walk.units} * walk.width + unit : 0) + (there ? k : 0);
      if (walk.packs)
        copy_chunk(weights + n * stride + k, from, there);
      else
        weights[n * stride + k] = there ? *from : from_float<T>(0);
    }
    close_copies();
    wait_for_copies<0>();
  }
  /// Backward: column n of the weights is column n of the block's units, for all gates.
  template <int N>
  __device__ void fill_from_columns(const Matrix<const T>& recurrent) const {
    constexpr int kAtOnce = 4;
    const int all = stride * (walk.units / N);
    for (int first = static_cast<int>(threadIdx.x); first < all; first += kAtOnce * kLstmThreads) {
      Pack<T, N> packs[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = first + i * kLstmThreads, k = at % stride, unit = first_unit + at / stride * N;
        const bool there = at < all && unit < walk.width && k < walk.terms;
        packs[i] = there ? load_pack<N>(row_of(recurrent, k) + unit) : Pack<T, N>{};
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = first + i * kLstmThreads, k = at % stride, n = at / stride * N;
        if (at >= all) break;
        for (int j = 0; j < N; ++j) weights[(n + j) * stride + k] = packs[i].numbers[j];
      }
    }
  }

  __device__ void enter(int which, const Ragged& rows, const std::int32_t* order, bool reverse) {
    __syncthreads();  // all threads are done with the previous group
    group = which;
    const int first = group * walk.sentences;
    members = min(walk.sentences, static_cast<int>(rows.count) - first);
    for (int i = static_cast<int>(threadIdx.x); i < members; i += kLstmThreads) {
      const int s = order[first + i], begin = rows.begin[s], end = rows.end[s];
      sentence[i] = s;
      first_row[i] = reverse ? end - 1 : begin;
      length[i] = end - begin;
    }
    const int spare = stride - walk.terms;  // padding
    if (blockIdx.x == 0)
      for (int at = static_cast<int>(threadIdx.x); at < 2 * members * spare; at += kLstmThreads)
        states(at / spare % 2, at / spare / 2)[walk.terms + at % spare] = from_float<T>(0);
    __syncthreads();
  }

  __device__ unsigned* tickets() const { return walk.tickets + 2 * (blockIdx.z * gridDim.y + blockIdx.y); }
  /// Waits until all blocks of the group have written the input of the next step.
  __device__ void sync() {
    if (Alone) return __syncthreads();
    arrivals += static_cast<unsigned>(walk.slices);
    sync_blocks(tickets(), arrivals);
  }
  /// Call after the last barrier.
  __device__ void leave() const {
    if (!Alone) leave_blocks(tickets(), static_cast<unsigned>(walk.slices));
  }

  /// Computes the sums of the first `active` sentences, separately for each part of the terms.
  __device__ void multiply(int odd, int active) const {
    constexpr int kTiles = lstm_tiles(Alone, Backward);
    const int lane = static_cast<int>(threadIdx.x) % 32, all = walk.columns / 8, across = (all + kTiles - 1) / kTiles;
    const int chunks = (walk.terms + kLstmChunk - 1) / kLstmChunk, jobs = (active + 15) / 16 * across * walk.parts;
    for (int job = static_cast<int>(threadIdx.x) / 32; job < jobs; job += kLstmWarps) {
      const int part = job % walk.parts, tile = job / walk.parts % across * kTiles, row = job / walk.parts / across * 16;
      const int tiles = min(kTiles, all - tile);
      const T *from = states(odd, row + lane / 4), *columns = weights + tile * 8 * stride;
      float c[kTiles][4] = {};
      multiply_chunks<T, lstm_ahead(Alone, Backward)>(
          c, part * chunks / walk.parts, (part + 1) * chunks / walk.parts, tiles,
          [&](int half, int k) {
            return Alone ? load_pack(from + half * 8 * stride + k) : load_fresh(from + half * 8 * stride + k);
          },
          [&](int n, int k) { return load_pack(columns + n * stride + k); });
      float* to = sums + (part * walk.sentences + row + lane / 4) * walk.sums_stride() + tile * 8 + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        if (j >= tiles) break;
        *reinterpret_cast<float2*>(to + j * 8) = {c[j][0], c[j][1]};
        *reinterpret_cast<float2*>(to + j * 8 + 8 * walk.sums_stride()) = {c[j][2], c[j][3]};
      }
    }
    __syncthreads();
  }
  /// Adds sentence i's sums of V columns for each gate; gates are walk.units columns apart.
  template <int Gates, int V>
  __device__ void add_sums(float (&to)[V][Gates], int i, int column) const {
    constexpr int kAtOnce = Gates == 1 ? 4 : 2;
#pragma unroll kAtOnce
    for (int part = 0; part < walk.parts; ++part) {
      const float* from = sums + (part * walk.sentences + i) * walk.sums_stride() + column;
#pragma unroll
      for (int gate = 0; gate < Gates; ++gate) {
        const Pack<float, V> some = load_pack<V>(from + gate * walk.units);
        for (int v = 0; v < V; ++v) to[v][gate] += some[v];
      }
    }
  }
};

/// V adjacent units of a sentence, which one thread computes at every step.
template <int V>
struct LstmCell {
  int i = 0, column = 0, unit = 0;  // sentence in the group, first unit in the block and of all
  int sentence = 0, first_row = 0, length = 0;
  bool there = false;

  LstmCell() = default;
  template <class Block>
  __device__ LstmCell(const Block& block, int number) {
    const int cell = number * kLstmThreads + static_cast<int>(threadIdx.x), across = block.walk.units / V;
    i = cell / across;
    column = cell % across * V;
    unit = block.first_unit + column;
    there = i < block.members && unit < block.walk.width;
    if (there) sentence = block.sentence[i], first_row = block.first_row[i], length = block.length[i];
  }
};

/// Loads V elements of row i from column j on, or zeros if there is no matrix.
template <int V, class T>
__device__ Pack<T, V> load_or_zero(const Matrix<const T>& matrix, Index i, int j) {
  return matrix.data == nullptr ? Pack<T, V>{} : load_pack<V>(row_of(matrix, i) + j);
}

}  // namespace attn::kernels
