#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/lstm/cell.cuh"
#include "attn/cuda/support/cluster.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/lstm.hpp"

// How the steps of an input-feeding decoder are distributed. A cluster runs a group of sentences, adjacent in `order`,
// through all steps and waits for no other cluster. Each block owns some units: their columns of every product, whose
// weights stay in shared memory if they fit. The blocks synchronise between a product and the next one that reads it, and
// exchange the matrices that the backward pass needs anyway. A warp owns a sentence of the group, its lanes the units of a
// pass: one thread reads and writes all state of a unit. For attention a block processes whole sentences.
//
// The weights are packed in the order in which the products read them: column by column, terms side by side, in tiles of 8
// columns x 32 terms, which a warp reads at once. The last tiles are zero-padded.

namespace attn::kernels {

inline constexpr int kFeedingUnits = 32;  // units that a block computes per pass

/// One matrix of the walk: `sets` columns per unit (4 gates, or the gradients of two inputs). Each block has the columns of
/// its units, pass by pass.
template <class T>
struct FeedingMatrix {
  const T* packed = nullptr;  // the parts of all blocks
  int sets = 0, units = 0;    // units: of a block, a multiple of 8
  int terms[2] = {};          // of the two operands side by side; the second may have none
  int place = -1;             // of the block's part in shared memory, in elements; -1: it stays in global memory

  __host__ __device__ int chunks(int operand) const { return (terms[operand] + kLstmChunk - 1) / kLstmChunk; }
  __host__ __device__ int chunks() const { return chunks(0) + chunks(1); }
  __host__ __device__ int units_of(int pass) const {
    const int rest = units - pass * kFeedingUnits;
    return rest < kFeedingUnits ? rest : kFeedingUnits;
  }
  __host__ __device__ int pass_begin(int pass) const { return pass * kFeedingUnits * sets * chunks() * kLstmChunk; }
  __host__ __device__ int size() const { return units * sets * chunks() * kLstmChunk; }  // of a block's part
};

/// Source of a FeedingMatrix. Not transposed: column s * all + unit is that row of `first`, then of `second`. Transposed:
/// the columns of set 0 are columns of `first`, those of set 1 columns of `second`.
template <class T>
struct FeedingSource {
  Matrix<const T> first, second;
  bool transposed = false;
  int all = 0;  // units of all blocks
  FeedingMatrix<T> to;
};

template <class T>
struct FeedingSources {
  FeedingSource<T> source[12];
};

/// Each thread packs 8 adjacent terms of a column.
template <class T>
__global__ void __launch_bounds__(256) pack_feeding_weights(const __grid_constant__ FeedingSources<T> all, int blocks) {
  const FeedingSource<T>& from = all.source[blockIdx.y];
  const FeedingMatrix<T>& to = from.to;
  const int size = to.size(), chunks = to.chunks();
  const Index at = (Index{blockIdx.x} * 256 + threadIdx.x) * 8;
  if (at >= Index{blocks} * size) return;
  const int block = static_cast<int>(at / size), place = static_cast<int>(at % size);
  const int pass = place / to.pass_begin(1), within = place - to.pass_begin(pass);
  const int n = within / (chunks * 256) * 8 + within % 256 / 32, units = to.units_of(pass), set = n / units;
  const int unit = block * to.units + pass * kFeedingUnits + n % units;
  const int chunk = within / 256 % chunks, operand = chunk < to.chunks(0) ? 0 : 1;
  const int term = (chunk - operand * to.chunks(0)) * kLstmChunk + within % 32;
  T* packed = const_cast<T*>(to.packed) + at;
  for (int k = 0; k < 8; ++k) {
    T number = from_float<T>(0);
    if (unit < from.all && term + k < to.terms[operand]) {
      if (from.transposed)
        number = row_of(set == 0 ? from.first : from.second, term + k)[unit];
      else
        number = row_of(operand == 0 ? from.first : from.second, Index{set} * from.all + unit)[term + k];
    }
    packed[k] = number;
  }
}

inline constexpr int kFeedingWarps = 16, kFeedingThreads = 32 * kFeedingWarps;
inline constexpr int kFeedingSentences = 16;  // per group: one per warp, and the rows of a matrix instruction
inline constexpr int kFeedingParts = 8;       // maximum number of parts of a product's terms, one per warp
static_assert(kFeedingSentences == kFeedingWarps && kFeedingUnits == 32);

template <class T>
struct FeedingWalk {
  static constexpr int kMostLayers = InputFeedingArgs<Cuda<T>>::kMostLayers;
  int blocks = 1;   // of a cluster
  int columns = 0;  // of a pass, at most
  int source_longest = 0;
  FeedingMatrix<T> gates[kMostLayers];  // straight: 4 gates of [below; before]; transposed: both inputs' gradients
  FeedingMatrix<T> mix;                 // straight: of [h; c]; transposed: the gradient of h
  FeedingMatrix<T> context;             // transposed: the gradient of c
  float *cells = nullptr, *states = nullptr, *queries = nullptr;  // groups x (layers, layers, 1) x 16 x width

  __host__ __device__ int sums_stride() const { return columns + 8; }  // rows begin in different banks
};

/// Loads an element past L1, since other blocks may have written it.
__device__ inline float load_fresh_number(const float* from) {
  float number;
  asm volatile("ld.global.cg.f32 %0, [%1];\n" : "=f"(number) : "l"(from) : "memory");
  return number;
}
__device__ inline bfloat16 load_fresh_number(const bfloat16* from) {
  unsigned short bits;
  asm volatile("ld.global.cg.u16 %0, [%1];\n" : "=h"(bits) : "l"(from) : "memory");
  return __ushort_as_bfloat16(bits);
}

/// Loads 16 bytes of a row, from column k on, that other blocks may have written. Zeros multiply values past its end.
template <int N, class T>
__device__ Pack<T> load_operand(const T* row, int k, int terms) {
  if constexpr (N > 1) {
    return load_fresh(row + (k < terms ? k : 0));  // no branch, so that the warp stays converged
  } else {
    Pack<T> pack{};
    for (int i = 0; i < Pack<T>::size && k + i < terms; ++i) pack.numbers[i] = load_fresh_number(row + k + i);
    return pack;
  }
}

/// A block's data and block-level operations. N: elements of a row that are read at once, a pack or 1.
template <class T, int N>
struct FeedingBlock {
  const FeedingWalk<T>& walk;
  T* weights;                                             // those that fit
  float* sums;                                            // parts x 16 x columns; also the buffers of attention
  int *sentence, *first_row, *length, *first_key, *keys;  // of each sentence of the group
  int rank, group, members, warp, lane;

  __device__ FeedingBlock(const FeedingWalk<T>& how, void* shared, int weights_begin, const Ragged& rows,
                          const std::int32_t* order, const Ragged& source)
      : walk(how) {
    sentence = static_cast<int*>(shared);
    first_row = sentence + kFeedingSentences;
    length = first_row + kFeedingSentences;
    first_key = length + kFeedingSentences;
    keys = first_key + kFeedingSentences;
    sums = reinterpret_cast<float*>(keys + kFeedingSentences);
    weights = reinterpret_cast<T*>(static_cast<char*>(shared) + weights_begin);
    rank = static_cast<int>(blockIdx.x) % walk.blocks;
    group = static_cast<int>(blockIdx.x) / walk.blocks;
    warp = static_cast<int>(threadIdx.x) / 32;
    lane = static_cast<int>(threadIdx.x) % 32;
    const int first = group * kFeedingSentences;
    members = min(kFeedingSentences, static_cast<int>(rows.count) - first);
    if (lane == 0 && warp < members) {
      const int s = order[first + warp];
      sentence[warp] = s;
      first_row[warp] = rows.begin[s];
      length[warp] = rows.end[s] - rows.begin[s];
      first_key[warp] = source.begin[s];
      keys[warp] = source.end[s] - source.begin[s];
    }
    __syncthreads();
  }

  /// Copies this block's part of a matrix to shared memory, if it has a place there.
  __device__ void fetch(const FeedingMatrix<T>& matrix) const {
    if (matrix.place < 0) return;
    const T* from = matrix.packed + Index{rank} * matrix.size();
    for (int at = static_cast<int>(threadIdx.x) * Pack<T>::size; at < matrix.size(); at += kFeedingThreads * Pack<T>::size)
      store_pack(weights + matrix.place + at, load_pack(from + at));
  }

  /// The index of this thread's unit in a pass, below `all`, or -1.
  __device__ int unit(int units, int pass, int all) const {
    const int own = pass * kFeedingUnits + lane, number = rank * units + own;
    return own < units && number < all ? number : -1;
  }
  /// A value that a thread keeps from step to step.
  __device__ float& kept(float* of, int layers, int layer, int number, int width) const {
    return of[((Index{group} * layers + layer) * kFeedingSentences + warp) * width + number];
  }
  __device__ int row(int t) const { return first_row[warp] + t; }

  /// The rows of step t that this lane needs for a product, from a column on. Ended sentences use the row of the first
  /// sentence: their sums are not read.
  struct Operand {
    const T* row[2];
  };
  __device__ Operand operand(const Matrix<T>& matrix, int t, int active, int column = 0) const {
    Operand x;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = lane / 4 + 8 * half;
      x.row[half] = row_of(matrix, Index{first_row[i < active ? i : 0]} + t) + column;
    }
    return x;
  }

  /// Computes the sums of a pass: a matrix times one operand, or two side by side.
  __device__ __noinline__ void multiply(const FeedingMatrix<T>& matrix, int pass, Operand x, Operand y = {}) const {
    __syncthreads();  // the previous sums have been read
    const int parts = min(matrix.chunks(), kFeedingParts), all = matrix.sets * matrix.units_of(pass) / 8;
    const int share = (all * parts + kFeedingWarps - 1) / kFeedingWarps;  // tiles per warp
    if constexpr (N == 1)                                                 // slow anyway
      multiply_tiles<1>(matrix, pass, x, y, all, parts);
    else if (share > 2)
      multiply_tiles<4>(matrix, pass, x, y, all, parts);
    else if (share > 1)
      multiply_tiles<2>(matrix, pass, x, y, all, parts);
    else
      multiply_tiles<1>(matrix, pass, x, y, all, parts);
    __syncthreads();
  }
  /// Tiles: tiles of 8 columns that a warp computes at once. With more than 4 the compiler no longer loads them together.
  template <int Tiles>
  __device__ void multiply_tiles(const FeedingMatrix<T>& matrix, int pass, const Operand& x, const Operand& y, int all,
                                 int parts) const {
    const int chunks = matrix.chunks(), first = matrix.chunks(0) * kLstmChunk, jobs = (all + Tiles - 1) / Tiles * parts;
    const T* from =
        (matrix.place < 0 ? matrix.packed + Index{rank} * matrix.size() : weights + matrix.place) + matrix.pass_begin(pass);
    const auto states = [&](int half, int k) {
      return k < first ? load_operand<N>(x.row[half], k, matrix.terms[0])
                       : load_operand<N>(y.row[half], k - first, matrix.terms[1]);
    };
    for (int job = warp; job < jobs; job += kFeedingWarps) {
      const int part = job % parts, tile = job / parts * Tiles, tiles = min(Tiles, all - tile);
      const int begin = part * chunks / parts, end = (part + 1) * chunks / parts;
      const auto columns = [&](int n, int k) {
        return load_pack(from + ((tile + n / 8) * chunks + k / kLstmChunk) * 256 + n % 8 * kLstmChunk + k % kLstmChunk);
      };
      float c[Tiles][4] = {};
      if (tiles == Tiles)  // a compile-time count, so that all weights of a chunk are in flight together
        multiply_chunks<T, 2>(c, begin, end, Tiles, states, columns);
      else
        multiply_chunks<T, 1>(c, begin, end, tiles, states, columns);
      float* to = sums + (part * kFeedingSentences + lane / 4) * walk.sums_stride() + tile * 8 + lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < Tiles; ++j) {
        if (j >= tiles) break;
        *reinterpret_cast<float2*>(to + j * 8) = {c[j][0], c[j][1]};
        *reinterpret_cast<float2*>(to + j * 8 + 8 * walk.sums_stride()) = {c[j][2], c[j][3]};
      }
    }
  }
  /// The sum of this thread's sentence and unit, in one of the sets.
  __device__ float sum(const FeedingMatrix<T>& matrix, int pass, int set) const {
    const float* from = sums + warp * walk.sums_stride() + set * matrix.units_of(pass) + lane;
    const int parts = min(matrix.chunks(), kFeedingParts);
    float total = 0;
    for (int part = 0; part < parts; ++part) total += from[part * kFeedingSentences * walk.sums_stride()];
    return total;
  }
};

template <class T>
__device__ void set(const Matrix<T>& matrix, Index i, int j, float x) {
  row_of(matrix, i)[j] = from_float<T>(x);
}

__device__ inline float dropped(const Dropout& dropout, Index i, int j) {
  return dropout.rate > 0 ? dropout.row(i)(static_cast<std::uint32_t>(j)) : 1.0f;
}

}  // namespace attn::kernels
