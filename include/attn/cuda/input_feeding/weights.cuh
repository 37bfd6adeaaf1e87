#pragma once
#include "attn/cuda/lstm/product.cuh"
#include "attn/cuda/support/rows.cuh"

// Packs the weights of an input-feeding walk in the order in which its products read them: column by column, terms side by
// side, in tiles of 8 columns x 32 terms, which a warp reads at once. The last tiles are zero-padded.

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
  static constexpr int kMost = 12;
  FeedingSource<T> source[kMost];
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

}  // namespace attn::kernels
