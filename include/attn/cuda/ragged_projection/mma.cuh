#pragma once
#include "attn/cuda/ragged_projection/kernels.cuh"
#include "attn/cuda/support/mma.cuh"

// The tensor-core kernels of ragged_projection, with wgmma on Hopper and mma.sync elsewhere. A block has Groups warpgroups
// and computes a tile of 64 * Groups x 64 * Wide, 64 rows per warpgroup. A and B are loaded 64 terms at a time, through a
// pipeline of Stages stages.

namespace attn::kernels::projection {

/// Whether the current architecture launches a kernel with these blocks. Large blocks have two stages without wgmma.
template <int Groups, int Stages>
__device__ constexpr bool is_launched() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  return Groups == 1 || Stages > 2;
#else
  return Groups == 1 || Stages == 2;
#endif
}

/// Bytes of shared memory per block: the pipeline stages, later reused for the tile of sums in float.
template <int Groups, int Wide, int Stages>
constexpr std::size_t shared_bytes() {
  constexpr std::size_t ring = std::size_t{Stages} * (Groups + Wide) * kTile * sizeof(bfloat16);
  constexpr std::size_t sums = std::size_t{Groups} * 64 * (64 * Wide + 8) * sizeof(float);
  return ring > sums ? ring : sums;
}

/// Writes or adds 8 adjacent sums.
template <class T>
__device__ void put_sums(T* to, const float* sums, bool add) {
#pragma unroll
  for (int first = 0; first < 8; first += Pack<T>::size) {
    Pack<T> pack{};
    if (add) pack = load_pack(to + first);
#pragma unroll
    for (int i = 0; i < Pack<T>::size; ++i) pack.set(i, pack[i] + sums[first + i]);
    store_pack(to + first, pack);
  }
}

/// Writes rows x cols of the tile of sums c. Each warp stages its 16 rows in shared memory, so that it writes whole rows.
/// Rows are padded by 8 elements, so that the four rows that half a warp writes at once use different banks.
template <int Wide, class T>
__device__ void put_tile(float* shared, const float (&c)[32 * Wide], T* to, Index stride, int rows, int cols, bool add) {
  constexpr int kStride = 64 * Wide + 8;
  const int lane = static_cast<int>(threadIdx.x) % 32, first = static_cast<int>(threadIdx.x) / 32 * 16;
  float* sums = shared + first * kStride;
#pragma unroll
  for (int j = 0; j < 8 * Wide; ++j) {
    float* place = sums + lane / 4 * kStride + 8 * j + lane % 4 * 2;
    *reinterpret_cast<float2*>(place) = make_float2(c[4 * j], c[4 * j + 1]);
    *reinterpret_cast<float2*>(place + 8 * kStride) = make_float2(c[4 * j + 2], c[4 * j + 3]);
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 4 * Wide; ++i) {
    const int row = (32 * i + lane) / (8 * Wide), col = (32 * i + lane) % (8 * Wide) * 8;
    if (first + row < rows && col < cols) put_sums(to + (first + row) * stride + col, sums + row * kStride + col, add);
  }
}

/// c += A B with 64 terms: `a` the warpgroup's tile of A, or of A transposed, and `b` the tiles of B.
template <bool Transposed, ColumnsIn Of, int N>
__device__ void multiply_tiles(float (&c)[N], const bfloat16* a, const bfloat16* b) {
  const int first = static_cast<int>(threadIdx.x) % 128 / 32 * 16;
  std::uint32_t terms[4][4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if constexpr (Transposed)
      load_a_transposed(terms[k], a, first, k);
    else
      load_a(terms[k], a, first, k);
  }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  begin_products();
#pragma unroll
  for (int k = 0; k < 4; ++k) multiply<Of>(c, terms[k], describe_tile<Of>(b, k, kTile * sizeof(bfloat16)));
  close_products();
  wait_for_products<0>();
#else
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int j = 0; j < N / 8; ++j) {  // columns 16 j to 16 j + 15
      std::uint32_t right[4];
      if constexpr (Of == ColumnsIn::rows)
        load_matrices(right, Lanes<64, true>().address(shared_address(b), 16 * j, k));
      else
        load_transposed(right, Lanes<64>().address(shared_address(b + j / 4 * kTile), 16 * k, j % 4));
      mma(c + 8 * j, terms[k], right[0], right[1]);
      mma(c + 8 * j + 4, terms[k], right[2], right[3]);
    }
#endif
}

template <bool Transposed, int Groups, int Wide, int Stages>
__global__ void __launch_bounds__(128 * Groups, Groups == 2 ? 2
                                                : Wide == 2 ? 4
                                                            : 6) project_mma(Projecting<bfloat16> job) {
  if (!is_launched<Groups, Stages>()) return;
  constexpr int kThreads = 128 * Groups;
  extern __shared__ __align__(1024) unsigned char shared[];
  const ProjectionTile<Transposed, 64 * Groups, 64 * Wide, bfloat16> tile(job);
  if (tile.rows <= 0) return;
  const int thread = static_cast<int>(threadIdx.x);
  const auto stage = [&](int step) {
    return reinterpret_cast<bfloat16*>(shared) + step % Stages * (Groups + Wide) * kTile;
  };

  // Terms past the last are zeros in both tiles, except up to 7 more columns of E, which are multiplied by rows of zeros.
  const auto fill = [&](int step) {
    const int first = step * 64, left = tile.terms - first;
    if (left > 0) {
      bfloat16 *a = stage(step), *b = a + Groups * kTile;
      if constexpr (Transposed) {
#pragma unroll
        for (int i = 0; i < Groups; ++i)
          fill_tile<64, kThreads>(a + i * kTile, tile.e + first * job.e.stride + 64 * i, job.e.stride, left,
                                  tile.rows - 64 * i, thread);
      } else {
        fill_tile<64 * Groups, kThreads>(a, tile.e + first, job.e.stride, tile.rows, left, thread);
      }
#pragma unroll
      for (int i = 0; i < Wide; ++i)
        fill_tile<64, kThreads>(b + i * kTile, tile.in + first * job.in.stride + 64 * i, job.in.stride, left,
                                tile.cols - 64 * i, thread);
    }
    close_copies();
  };

  float c[32 * Wide] = {};
#pragma unroll
  for (int step = 0; step < Stages - 1; ++step) fill(step);
  for (int step = 0; step * 64 < tile.terms; ++step) {
    wait_for_copies<Stages - 2>();
    __syncthreads();  // this step's tiles have arrived, and the previous ones have been read
    fill(step + Stages - 1);
    multiply_tiles<Transposed, ColumnsIn::columns>(c, stage(step) + thread / 128 * kTile, stage(step) + Groups * kTile);
  }
  __syncthreads();
  float* sums = reinterpret_cast<float*>(shared);
  if (job.parts != nullptr)
    put_tile<Wide>(sums, c, part_of(job, tile), job.out.cols, tile.rows, tile.cols, false);
  else
    put_tile<Wide>(sums, c, place_of(job.out, tile.row, tile.col), job.out.stride, tile.rows, tile.cols, job.add);
}

template <int Groups, int Wide, int Stages>
__global__ void __launch_bounds__(128 * Groups, Groups == 2 ? 2 : 4) project_weight_mma(ProjectingWeight<bfloat16> job) {
  if (!is_launched<Groups, Stages>()) return;
  constexpr int kThreads = 128 * Groups;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int first_col = static_cast<int>(blockIdx.y) * 64 * Wide;
  const int first_row = static_cast<int>(blockIdx.z) % job.row_tiles * 64 * Groups;
  const Index block = static_cast<int>(blockIdx.z) / job.row_tiles;
  const int thread = static_cast<int>(threadIdx.x);
  const auto stage = [&](int step) {
    return reinterpret_cast<bfloat16*>(shared) + step % Stages * (Groups + Wide) * kTile;
  };

  // A step: 64 of a block's columns, in one of the group's sentences that reach this tile.
  Index sentence = blockIdx.x, begin = 0;
  int length = 0, col = 0, filled = 0;
  const auto find_sentence = [&] {
    for (; sentence < job.sentences; sentence += gridDim.x) {
      begin = job.begin[sentence];
      length = job.end[sentence] - static_cast<int>(begin);
      if (length > first_col) return;
    }
  };
  const auto fill = [&] {
    if (sentence < job.sentences) {
      bfloat16 *a = stage(filled++), *b = a + Groups * kTile;
      const Index place = block * job.width + col;
      fill_tile<64 * Groups, kThreads>(a, place_of(job.dy, sentence * job.k + first_row, place), job.dy.stride,
                                       job.k - first_row, job.width - col, thread);
      fill_tile<64 * Wide, kThreads>(b, place_of(job.x, begin + first_col, place), job.x.stride, length - first_col,
                                     job.width - col, thread);
      col += 64;
      if (col >= job.width) {
        col = 0;
        sentence += gridDim.x;
        find_sentence();
      }
    }
    close_copies();
  };

  float c[32 * Wide] = {};
  find_sentence();
#pragma unroll
  for (int i = 0; i < Stages - 1; ++i) fill();
  for (int step = 0; step < filled; ++step) {
    wait_for_copies<Stages - 2>();
    __syncthreads();  // this step's tiles have arrived, and the previous ones have been read
    fill();
    multiply_tiles<false, ColumnsIn::rows>(c, stage(step) + thread / 128 * kTile, stage(step) + Groups * kTile);
  }
  __syncthreads();
  put_tile<Wide>(reinterpret_cast<float*>(shared), c,
                 place_of(job.to, block * job.k + first_row, first_col) + blockIdx.x * job.part, job.to.stride,
                 job.k - first_row, static_cast<int>(job.to.cols) - first_col, job.add);
}

}  // namespace attn::kernels::projection
