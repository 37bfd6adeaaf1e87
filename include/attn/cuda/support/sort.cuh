#pragma once
#include <bit>

#include "attn/cuda/support/launch.cuh"
#include "attn/cuda/support/rows.cuh"

// Stable radix sort of rows by token, eight bits per pass. A block sorts 1024 rows, each of its warps
// 128 consecutive ones. Two kernels per pass:
//
//   count_digits     how often each digit occurs in each tile
//   place_by_digit   a row goes after all smaller digits, after the same digit in earlier tiles, in earlier warps of its tile, in
//                    earlier rows of its warp

namespace attn {

struct TokenAt {
  Token token;
  std::int32_t row;
};

namespace kernels {

inline constexpr int kDigits = 256, kTileRows = 1024, kSortWarps = kDigits / 32, kRounds = kTileRows / kDigits;

/// Before the first pass row i is in place i.
__device__ inline TokenAt token_at(const Token* tokens, const TokenAt* sorted, int i) {
  return sorted == nullptr ? TokenAt{tokens[i], i} : sorted[i];
}
__device__ inline int digit_of(Token token, int shift) { return token >> shift & (kDigits - 1); }

/// counts: tiles x digits.
static __global__ void __launch_bounds__(kDigits)
    count_digits(const Token* tokens, const TokenAt* from, int count, int shift, int* counts) {
  __shared__ int digits[kDigits];
  digits[threadIdx.x] = 0;
  __syncthreads();
  unrolled<kRounds>([&](int k) {
    const int i = static_cast<int>(blockIdx.x * kTileRows + k * kDigits + threadIdx.x);
    if (i < count) atomicAdd(&digits[digit_of(token_at(tokens, from, i).token, shift)], 1);
  });
  __syncthreads();
  counts[blockIdx.x * kDigits + threadIdx.x] = digits[threadIdx.x];
}

/// Exclusive prefix sum over the threads of a block of kDigits.
__device__ inline int sum_before(int x) {
  __shared__ int totals[kSortWarps];
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32;
  int sum = x;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffU, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += totals[w];
  return sum - x;
}

static __global__ void __launch_bounds__(kDigits)
    place_by_digit(const Token* tokens, const TokenAt* from, int count, int shift, const int* counts, TokenAt* to) {
  __shared__ int places[kSortWarps][kDigits];  // destination of a warp's next row with a digit
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32, thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * kTileRows + warp * (32 * kRounds) + lane;
  for (int w = 0; w < kSortWarps; ++w) places[w][thread] = 0;
  __syncthreads();
  TokenAt rows[kRounds];
  int digits[kRounds];  // -1 after the last row
  unrolled<kRounds>([&](int k) {
    const bool there = first + 32 * k < count;
    rows[k] = there ? token_at(tokens, from, first + 32 * k) : TokenAt{};
    digits[k] = there ? digit_of(rows[k].token, shift) : -1;
    if (there) atomicAdd(&places[warp][digits[k]], 1);
  });

  int all = 0, before = 0;  // occurrences of the digit threadIdx.x, in all tiles and in earlier ones
#pragma unroll 8
  for (unsigned tile = 0; tile < gridDim.x; ++tile) {
    const int here = counts[tile * kDigits + threadIdx.x];
    all += here;
    before += tile < blockIdx.x ? here : 0;
  }
  int place = sum_before(all) + before;  // sum_before synchronises the block: every warp has counted
  for (int w = 0; w < kSortWarps; ++w) {
    const int here = places[w][thread];
    places[w][thread] = place;
    place += here;
  }
  __syncthreads();
  unrolled<kRounds>([&](int k) {
    const unsigned same = __match_any_sync(0xffffffffU, digits[k]);
    const int rank = __popc(same & ((1U << lane) - 1));
    const int begin = digits[k] < 0 ? 0 : places[warp][digits[k]];
    __syncwarp();
    if (digits[k] >= 0) {
      to[begin + rank] = rows[k];
      if (rank == 0) places[warp][digits[k]] = begin + __popc(same);
    }
    __syncwarp();
  });
}

}  // namespace kernels

/// Elements that `space` needs in sort_by_token.
inline Index sort_space(Index count) {
  return 2 * count + divide_up(count, kernels::kTileRows) * kernels::kDigits / 2;  // two buffers, and the counts
}

/// Sorts rows 0 to count - 1 by token; rows of one token keep their order. The result lies in `space`.
template <class Device>
const TokenAt* sort_by_token(Device& device, const Token* tokens, Index count, Index vocabulary, TokenAt* space) {
  const auto tiles = static_cast<unsigned>(divide_up(count, kernels::kTileRows));
  const int bits = std::bit_width(static_cast<std::uint64_t>(vocabulary - 1));
  const TokenAt* sorted = nullptr;
  TokenAt *to = space, *other = space + count;
  int* counts = reinterpret_cast<int*>(space + 2 * count);
  for (int shift = 0; shift < bits || sorted == nullptr; shift += 8) {
    const Spread spread{{tiles}, kernels::kDigits};
    launch(device, "counting tokens", spread, kernels::count_digits, tokens, sorted, count, shift, counts);
    launch(device, "sorting tokens", spread, kernels::place_by_digit, tokens, sorted, count, shift, counts, to);
    sorted = to;
    std::swap(to, other);
  }
  return sorted;
}

}  // namespace attn
