#pragma once
#include "attn/cuda/linear.cuh"
#include "attn/cuda/lstm.cuh"
#include "attn/ops/lstm_cell.hpp"

// A step of an LSTM layer in one kernel, in bfloat16: what a recurrent decoder asks for, layer by layer. A block takes 8 units, that is
// 32 rows of the weights, and up to 64 sentences, so that weights are read once and x and h' seldom. Its warps share the terms out, those of x
// and then those of h', as the product of few rows does (matmul/few_rows.cuh); the two rows of weights that a tile of 16 has for a lane
// are two gates of the same unit, so that the warps' sums, added in shared memory, are a unit's four gates.

namespace attn {
namespace kernels {

inline constexpr int kCellUnits = 8;

/// The warps' sums: gates x sentences x units each.
template <int Eights>
inline constexpr std::size_t kCellShared = sizeof(float) * kFewWarps * 4 * 8 * Eights* kCellUnits;

/// Eights: how many times 8 sentences a block takes; Ahead: how many times 32 terms a warp holds at once.
template <int Eights, int Ahead>
__global__ void __launch_bounds__(kFewThreads) lstm_cell(const LstmCellArgs<Cuda<bfloat16>> args) {
  constexpr int kSentences = 8 * Eights, kOwn = (kSentences * kCellUnits + kFewThreads - 1) / kFewThreads;
  extern __shared__ float cell_shared[];
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32, place = lane / 4, terms = lane % 4 * 8;
  const int width = static_cast<int>(args.h.cols), first_unit = static_cast<int>(blockIdx.x) * kCellUnits;
  const Index first = Index{blockIdx.y} * kSentences;
  const int sentences = static_cast<int>(min(args.x.rows - first, Index{kSentences}));
  const int of_x = static_cast<int>(args.x.cols) / kFewTerms,
            chunks = of_x + (args.h0.data != nullptr ? width / kFewTerms : 0);
  const auto in_chunk = [&](int chunk, const Matrix<const bfloat16>& of_input, const Matrix<const bfloat16>& of_state,
                            Index row) {
    return chunk < of_x ? row_of(of_input, row) + chunk * kFewTerms + terms
                        : row_of(of_state, row) + (chunk - of_x) * kFewTerms + terms;
  };
  const auto weight = [&](int chunk, int gate) {
    return in_chunk(chunk, args.input, args.recurrent, Index{gate} * width + first_unit + place);
  };
  for (int chunk = warp; chunk < chunks; chunk += kFewWarps)
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) prefetch(weight(chunk, gate));
  wait_for_earlier();
  let_next_begin();

  float c[kOwn] = {};  // of this thread's units, on its way first
#pragma unroll
  for (int n = 0; n < kOwn; ++n) {
    const int i = static_cast<int>(threadIdx.x) + n * kFewThreads;
    if (i / kCellUnits < sentences && args.c0.data != nullptr)
      c[n] = to_float(row_of(args.c0, first + i / kCellUnits)[first_unit + i % kCellUnits]);
  }

  float sums[2][Eights][4] = {};
  for (int begin = warp; begin < chunks; begin += kFewWarps * Ahead) {
    uint4 weights[Ahead][4], x[Ahead][Eights];
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      const int chunk = min(begin + i * kFewWarps, chunks - 1);
#pragma unroll
      for (int gate = 0; gate < 4; ++gate) weights[i][gate] = *reinterpret_cast<const uint4*>(weight(chunk, gate));
#pragma unroll
      for (int e = 0; e < Eights; ++e)
        x[i][e] =
            *reinterpret_cast<const uint4*>(in_chunk(chunk, args.x, args.h0, first + min(8 * e + place, sentences - 1)));
    }
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      if (begin + i * kFewWarps >= chunks) break;
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const uint4 a = weights[i][2 * pair], b = weights[i][2 * pair + 1];
#pragma unroll
        for (int e = 0; e < Eights; ++e) {
          multiply_16(sums[pair][e], a.x, b.x, a.y, b.y, x[i][e].x, x[i][e].y);
          multiply_16(sums[pair][e], a.z, b.z, a.w, b.w, x[i][e].z, x[i][e].w);
        }
      }
    }
  }

  // A lane's sums are those of unit `place`, two gates, with two sentences.
  const auto part = [&](int of_warp, int gate, int sentence, int unit) -> float& {
    return cell_shared[((of_warp * 4 + gate) * kSentences + sentence) * kCellUnits + unit];
  };
#pragma unroll
  for (int pair = 0; pair < 2; ++pair)
#pragma unroll
    for (int e = 0; e < Eights; ++e)
#pragma unroll
      for (int i = 0; i < 4; ++i) part(warp, 2 * pair + i / 2, 8 * e + lane % 4 * 2 + i % 2, place) = sums[pair][e][i];
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kOwn; ++n) {
    const int i = static_cast<int>(threadIdx.x) + n * kFewThreads, sentence = i / kCellUnits, unit = i % kCellUnits;
    if (sentence >= sentences) break;
    float gate[4];
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      gate[g] = to_float(args.bias[g * width + first_unit + unit]);
#pragma unroll
      for (int w = 0; w < kFewWarps; ++w) gate[g] += part(w, g, sentence, unit);
    }
    const bfloat16 h = from_float<bfloat16>(lstm_unit<bfloat16>(gate, c[n]));
    const Index row = first + sentence;
    row_of(args.h, row)[first_unit + unit] = h;
    row_of(args.last_h, row)[first_unit + unit] = h;
    row_of(args.last_c, row)[first_unit + unit] = from_float<bfloat16>(c[n]);
  }
}

}  // namespace kernels

/// Whether a step is for the kernel above. It reads the weights once for every 64 sentences: many are for cuBLASLt.
inline bool of_few_sentences(const Cuda<bfloat16>& device, const LstmCellArgs<Cuda<bfloat16>>& args) {
  return device.has_wgmma() && args.x.rows > 0 && args.x.rows <= 256 && args.x.cols % kernels::kFewTerms == 0 &&
         args.h.cols % kernels::kFewTerms == 0 && in_packs(args.x, args.input, args.recurrent, args.h0);
}

inline void lstm_cell_of_few(Cuda<bfloat16>& device, const LstmCellArgs<Cuda<bfloat16>>& args) {
  const Index slices = args.h.cols / kernels::kCellUnits;
  const auto start = [&]<int Eights, int Ahead>() {
    const Spread spread{{static_cast<unsigned>(slices), static_cast<unsigned>(divide_up(args.x.rows, 8 * Eights))},
                        kernels::kFewThreads,
                        kernels::kCellShared<Eights>};
    launch_overlapping(device, "lstm_cell", spread, kernels::lstm_cell<Eights, Ahead>, args);
  };
  // As many sentences a block as leave every multiprocessor one.
  const auto suits = [&](Index sentences) {
    return args.x.rows > sentences / 2 && slices * divide_up(args.x.rows, sentences) * 4 >= device.multiprocessors() * 3;
  };
  if (suits(64)) return start.template operator()<8, 2>();
  if (suits(32)) return start.template operator()<4, 4>();
  if (args.x.rows > 8) return start.template operator()<2, 3>();
  start.template operator()<1, 4>();
}

template <class T>
void lstm_cell(Cuda<T>& device, const LstmCellArgs<Cuda<T>>& args) {
  if constexpr (std::is_same_v<T, bfloat16>)
    if (of_few_sentences(device, args)) return lstm_cell_of_few(device, args);
  product_and_lstm(device, args);
}

}  // namespace attn
