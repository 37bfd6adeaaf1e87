#pragma once
#include <algorithm>

#include "attn/cuda/linear.cuh"
#include "attn/cuda/lstm.cuh"
#include "attn/cuda/support/tensor_core.cuh"
#include "attn/ops/lstm_cell.hpp"

// A step of an LSTM layer in one kernel, in bfloat16: what a recurrent decoder asks for, layer by layer. A block takes 8 units, that is
// 32 rows of the weights, and up to 64 sentences, so that weights are read once and x and h' seldom. Its warps share the terms out, some
// those of x and the others those of h', as the product of few rows does (matmul/few_rows.cuh); the two rows of weights that a tile of 16
// has for a lane are two gates of the same unit, so that the warps' sums, added in shared memory, are a unit's four gates.

namespace attn {
namespace kernels {

inline constexpr int kCellUnits = 8;

/// Shared memory of a block: chunks of weights and vectors under way, and later, in their place, the warps' sums, gates x sentences x units.
template <int Eights, int Ahead>
inline constexpr std::size_t kCellShared = std::max(std::size_t{Ahead} * (4 + Eights) * kFewThreads * sizeof(uint4),
                                                    sizeof(float) * kFewWarps * 4 * 8 * Eights * kCellUnits);

/// Whether a block leaves room for one of the next kernel, which then comes early and asks for its weights.
template <int Eights>
inline constexpr bool kCellLeavesRoom = Eights <= 2;

/// Eights: how many times 8 sentences a block takes; Ahead: how many times 32 terms of a warp are under way. Warps up to warps_of_x take the
/// terms of x.
template <int Eights, int Ahead>
__global__ void __launch_bounds__(kFewThreads, kCellLeavesRoom<Eights> ? 2 : 1)
    lstm_cell(const LstmCellArgs<Cuda<bfloat16>> args, const int warps_of_x) {
  constexpr int kSentences = 8 * Eights, kOwn = (kSentences * kCellUnits + kFewThreads - 1) / kFewThreads;
  extern __shared__ uint4 cell_shared[];
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32, place = lane / 4, terms = lane % 4 * 8;
  const int width = static_cast<int>(args.h.cols), first_unit = static_cast<int>(blockIdx.x) * kCellUnits;
  const Index first = Index{blockIdx.y} * kSentences;
  const int sentences = static_cast<int>(min(args.x.rows - first, Index{kSentences}));

  const bool of_x = warp < warps_of_x;
  const Matrix<const bfloat16>&matrix = of_x ? args.input : args.recurrent, &vectors = of_x ? args.x : args.h0;
  const int chunks = static_cast<int>(vectors.cols) / kFewTerms, begin = of_x ? warp : warp - warps_of_x,
            step = of_x ? warps_of_x : kFewWarps - warps_of_x;
  const bfloat16 *of_gate[4], *of_sentence[Eights];  // this lane's rows
#pragma unroll
  for (int gate = 0; gate < 4; ++gate) of_gate[gate] = row_of(matrix, Index{gate} * width + first_unit + place) + terms;
#pragma unroll
  for (int e = 0; e < Eights; ++e) of_sentence[e] = row_of(vectors, first + min(8 * e + place, sentences - 1)) + terms;

  // A lane copies what it multiplies to shared memory itself, and nobody else reads it: the weights first, while earlier kernels run.
  const auto weights = [&](int slot, int gate) { return cell_shared + (slot * 4 + gate) * kFewThreads + threadIdx.x; };
  const auto x = [&](int slot, int e) { return cell_shared + (Ahead * 4 + slot * Eights + e) * kFewThreads + threadIdx.x; };
  const auto ask_weights = [&](int slot, int chunk) {
    if (chunk >= chunks) return;
#pragma unroll
    for (int gate = 0; gate < 4; ++gate) copy_chunk(weights(slot, gate), of_gate[gate] + chunk * kFewTerms, true);
  };
  const auto ask_x = [&](int slot, int chunk) {
    if (chunk >= chunks) return;
#pragma unroll
    for (int e = 0; e < Eights; ++e) copy_chunk(x(slot, e), of_sentence[e] + chunk * kFewTerms, true);
  };
#pragma unroll
  for (int i = 0; i < Ahead; ++i) ask_weights(i, begin + i * step);
  const int unit = static_cast<int>(threadIdx.x) % kCellUnits;  // whose gates this thread adds up
  float bias[4];
#pragma unroll
  for (int gate = 0; gate < 4; ++gate) bias[gate] = to_float(args.bias[gate * width + first_unit + unit]);
  wait_for_earlier();
  let_next_begin();
#pragma unroll
  for (int i = 0; i < Ahead; ++i) {
    ask_x(i, begin + i * step);
    close_copies();
  }
  float c[kOwn] = {};
#pragma unroll
  for (int n = 0; n < kOwn; ++n) {
    const int sentence = (static_cast<int>(threadIdx.x) + n * kFewThreads) / kCellUnits;
    if (sentence < sentences && args.c0.data != nullptr)
      c[n] = to_float(row_of(args.c0, first + sentence)[first_unit + unit]);
  }

  float sums[2][Eights][4] = {};
  for (int chunk = begin; chunk < chunks; chunk += step * Ahead)
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      if (chunk + i * step >= chunks) break;
      wait_for_own_copies<Ahead - 1>();
      uint4 w[4];
#pragma unroll
      for (int gate = 0; gate < 4; ++gate) w[gate] = *weights(i, gate);
#pragma unroll
      for (int e = 0; e < Eights; ++e) {
        const uint4 v = *x(i, e);
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          const uint4 a = w[2 * pair], b = w[2 * pair + 1];
          multiply_16(sums[pair][e], a.x, b.x, a.y, b.y, v.x, v.y);
          multiply_16(sums[pair][e], a.z, b.z, a.w, b.w, v.z, v.w);
        }
      }
      ask_weights(i, chunk + (i + Ahead) * step);
      ask_x(i, chunk + (i + Ahead) * step);
      close_copies();
    }
  __syncthreads();  // sums come where weights were

  // A lane's sums are those of unit `place`, two gates, with two sentences.
  const auto part = [&](int of_warp, int gate, int sentence, int of_unit) -> float& {
    return reinterpret_cast<float*>(cell_shared)[((of_warp * 4 + gate) * kSentences + sentence) * kCellUnits + of_unit];
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
    const int sentence = (static_cast<int>(threadIdx.x) + n * kFewThreads) / kCellUnits;
    if (sentence >= sentences) break;
    float gate[4];
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      gate[g] = bias[g];
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
  const Index slices = args.h.cols / kernels::kCellUnits, terms_of_h = args.h0.data != nullptr ? args.h.cols : 0;
  constexpr Index kWarps = kernels::kFewWarps;
  const int warps_of_x =
      terms_of_h == 0
          ? kWarps
          : static_cast<int>(std::clamp<Index>(kWarps * args.x.cols / (args.x.cols + terms_of_h), 1, kWarps - 1));
  const auto start = [&]<int Eights, int Ahead>() {
    const Spread spread{{static_cast<unsigned>(slices), static_cast<unsigned>(divide_up(args.x.rows, 8 * Eights))},
                        kernels::kFewThreads,
                        kernels::kCellShared<Eights, Ahead>};
    launch_overlapping(device, "lstm_cell", spread, kernels::lstm_cell<Eights, Ahead>, args, warps_of_x);
  };
  // As many sentences a block as leave every multiprocessor one.
  const auto suits = [&](Index sentences) {
    return args.x.rows > sentences / 2 && slices * divide_up(args.x.rows, sentences) * 4 >= device.multiprocessors() * 3;
  };
  if (suits(64)) return start.template operator()<8, 4>();
  if (suits(32)) return start.template operator()<4, 4>();
  if (args.x.rows > 8) return start.template operator()<2, 4>();
  start.template operator()<1, 4>();
}

template <class T>
void lstm_cell(Cuda<T>& device, const LstmCellArgs<Cuda<T>>& args) {
  if constexpr (std::is_same_v<T, bfloat16>)
    if (of_few_sentences(device, args)) return lstm_cell_of_few(device, args);
  product_and_lstm(device, args);
}

}  // namespace attn
