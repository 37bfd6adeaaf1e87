#pragma once
#include "attn/cuda/linear.cuh"
#include "attn/cuda/lstm/kernels.cuh"
#include "attn/cuda/lstm/step.cuh"

namespace attn {
namespace kernels {

/// Plans `ways` concurrent walks with cells of `cell` units; nullopt if the weights do not fit into shared memory.
template <bool Backward, class T>
std::optional<LstmWalk<T>> plan_lstm(Cuda<T>& device, const LstmArgs<Cuda<T>>& args, int ways, bool packs, int cell) {
  const int most = cell * kLstmCells * kLstmThreads;  // units per block, over all its sentences
  const auto up = [](Index number, Index step) { return static_cast<int>(divide_up(number, step) * step); };
  const int width = static_cast<int>(args.h.cols), blocks = device.multiprocessors() / ways,
            terms = (Backward ? 4 : 1) * width;
  for (const int units : {up(width, 8), 16, 8}) {
    const int slices = static_cast<int>(divide_up(width, units)), columns = (Backward ? 1 : 4) * units;
    if (units * 16 > most || slices > blocks) continue;
    // Blocks with more than 16 sentences also have more products. The order of sums does not depend on the number of
    // sentences: each gives the same bits in any batch.
    const Index products = divide_up(columns, 8 * lstm_tiles(slices == 1, Backward)) * (slices == 1 ? 1 : 4);
    const Index chunks = divide_up(terms, kLstmChunk);
    const int share = slices == 1 ? 16 : up(divide_up(args.rows.count, blocks / slices), 16);
    for (int sentences = std::min(std::max(share, 16), most / units / 16 * 16); sentences >= 16; sentences -= 16) {
      LstmWalk<T> walk{.width = width,
                       .units = units,
                       .slices = slices,
                       .sentences = sentences,
                       .groups = static_cast<int>(divide_up(args.rows.count, sentences)),
                       .terms = terms,
                       .columns = columns,
                       .parts = static_cast<int>(std::clamp<Index>(kLstmWarps / products, 1, std::min<Index>(chunks, 8))),
                       .packs = packs};
      // Concurrent walks are slower than successive ones if blocks are more than half full or process groups in turns.
      if (ways > 1 && slices > 1 && (2 * units * sentences > most || walk.groups * slices > blocks)) continue;
      if (walk.shared() > device.properties().sharedMemPerBlockOptin) continue;
      if (slices == 1) return walk;
      walk.exchange = device.template workspace<T>(ways * walk.exchanged());
      walk.tickets = device.tickets(2 * device.multiprocessors());
      return walk;
    }
  }
  return std::nullopt;
}

/// Whether two adjacent elements of a row can be loaded and stored at once.
template <class... T>
bool in_pairs(const Matrix<T>&... matrices) {
  return ((reinterpret_cast<std::uintptr_t>(matrices.data) % (2 * sizeof(T)) == 0 && matrices.stride % 2 == 0 &&
           matrices.cols % 2 == 0) &&
          ...);
}
template <class T>
bool in_pairs(const LstmArgs<Cuda<T>>& a) {
  return in_pairs(a.gates, a.h0, a.c0, a.h, a.c, a.previous, a.last_h, a.last_c);
}

/// Launches `alone` if each block owns all units, else `together`, whose blocks synchronise.
template <class T, class Args, std::size_t Ways>
void run_lstm(Cuda<T>& device, const char* what, const LstmWalk<T>& walk, void (*alone)(LstmWays<Args, Ways>, LstmWalk<T>),
              void (*together)(LstmWays<Args, Ways>, LstmWalk<T>), const std::array<Args, Ways>& ways) {
  LstmWays<Args, Ways> all;
  std::ranges::copy(ways, all.way);
  const int at_once = std::min(walk.groups, device.multiprocessors() / static_cast<int>(Ways) / walk.slices);
  const Spread spread{{static_cast<unsigned>(walk.slices), static_cast<unsigned>(at_once), static_cast<unsigned>(Ways)},
                      kLstmThreads,
                      walk.shared()};
  if (walk.slices == 1)
    launch(device, what, spread, alone, all, walk);
  else
    launch_cooperative(device, what, spread, together, all, walk);
}

// One step of an LSTM layer in one bfloat16 kernel, as in a recurrent decoder. A block computes 8 units, i.e. 32 rows of
// the weights, for up to 64 sentences, so that weights are read once and x and h' rarely. Its warps split the terms, some
// those of x and the others those of h', as in matmul/few_rows.cuh. The two rows of weights that a lane has in a tile of 16
// are two gates of one unit, so that the warps' sums, added in shared memory, are a unit's four gates.

inline constexpr int kCellUnits = 8;

/// Bytes of shared memory per block: weights and vectors in flight, then the warps' sums, gates x sentences x units.
template <int Eights, int Ahead>
inline constexpr std::size_t kCellShared = std::max(std::size_t{Ahead} * (4 + Eights) * kFewThreads * sizeof(uint4),
                                                    sizeof(float) * kFewWarps * 4 * 8 * Eights * kCellUnits);

/// Eights: groups of 8 sentences per block. Ahead: chunks of 32 terms in flight per warp. Warps below warps_of_x take the
/// terms of x, the others those of h'. Beside a small block a block of the next kernel fits, which fetches its weights early.
template <int Eights, int Ahead>
__global__ void __launch_bounds__(kFewThreads, Eights <= 2 ? 2 : 1)
    lstm_cell(const LstmCellArgs<Cuda<bfloat16>> args, const int warps_of_x) {
  constexpr int kSentences = 8 * Eights, kOwn = (kSentences * kCellUnits + kFewThreads - 1) / kFewThreads;
  extern __shared__ uint4 cell_shared[];
  const int lane = lane_of_warp(), warp = static_cast<int>(threadIdx.x) / 32, place = lane / 4, terms = lane % 4 * 8;
  const int width = static_cast<int>(args.step.h.cols), first_unit = static_cast<int>(blockIdx.x) * kCellUnits;
  const Index first = Index{blockIdx.y} * kSentences;
  const int sentences = static_cast<int>(min(args.x.rows - first, Index{kSentences}));

  const bool of_x = warp < warps_of_x;
  const Matrix<const bfloat16>&matrix = of_x ? args.input : args.step.recurrent, &vectors = of_x ? args.x : args.step.h0;
  const int chunks = static_cast<int>(vectors.cols) / kFewTerms, begin = of_x ? warp : warp - warps_of_x,
            step = of_x ? warps_of_x : kFewWarps - warps_of_x;
  const bfloat16 *of_gate[4], *of_sentence[Eights];  // this lane's rows
  for (int gate = 0; gate < 4; ++gate) of_gate[gate] = row_of(matrix, Index{gate} * width + first_unit + place) + terms;
#pragma unroll
  for (int e = 0; e < Eights; ++e) of_sentence[e] = row_of(vectors, first + min(8 * e + place, sentences - 1)) + terms;

  // Each lane copies only its own operands to shared memory: the weights first, while earlier kernels run.
  const auto weights = [&](int slot, int gate) { return cell_shared + (slot * 4 + gate) * kFewThreads + threadIdx.x; };
  const auto x = [&](int slot, int e) { return cell_shared + (Ahead * 4 + slot * Eights + e) * kFewThreads + threadIdx.x; };
  const auto ask_weights = [&](int slot, int chunk) {
    if (chunk >= chunks) return;
    for (int gate = 0; gate < 4; ++gate) copy_chunk(weights(slot, gate), of_gate[gate] + chunk * kFewTerms, true);
  };
  const auto ask_x = [&](int slot, int chunk) {
    if (chunk >= chunks) return;
#pragma unroll
    for (int e = 0; e < Eights; ++e) copy_chunk(x(slot, e), of_sentence[e] + chunk * kFewTerms, true);
  };
#pragma unroll
  for (int i = 0; i < Ahead; ++i) ask_weights(i, begin + i * step);
  const int unit = static_cast<int>(threadIdx.x) % kCellUnits;  // the unit whose gates this thread adds up
  float bias[4];
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
    if (sentence < sentences && args.step.c0.data != nullptr)
      c[n] = to_float(row_of(args.step.c0, first + sentence)[first_unit + unit]);
  }

  float sums[2][Eights][4] = {};
  for (int chunk = begin; chunk < chunks; chunk += step * Ahead)
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      if (chunk + i * step >= chunks) break;
      wait_for_own_copies<Ahead - 1>();
      uint4 w[4];
      for (int gate = 0; gate < 4; ++gate) w[gate] = *weights(i, gate);
#pragma unroll
      for (int e = 0; e < Eights; ++e) {
        const uint4 v = *x(i, e);
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          const uint4 a = w[2 * pair], b = w[2 * pair + 1];
          mma(sums[pair][e], a.x, b.x, a.y, b.y, v.x, v.y);
          mma(sums[pair][e], a.z, b.z, a.w, b.w, v.z, v.w);
        }
      }
      ask_weights(i, chunk + (i + Ahead) * step);
      ask_x(i, chunk + (i + Ahead) * step);
      close_copies();
    }
  __syncthreads();  // the sums replace the weights

  // A lane's sums: two gates of unit `place`, for two sentences.
  const auto part = [&](int of_warp, int gate, int sentence, int of_unit) -> float& {
    return reinterpret_cast<float*>(cell_shared)[((of_warp * 4 + gate) * kSentences + sentence) * kCellUnits + of_unit];
  };
#pragma unroll
  for (int pair = 0; pair < 2; ++pair)
#pragma unroll
    for (int e = 0; e < Eights; ++e)
      for (int i = 0; i < 4; ++i) part(warp, 2 * pair + i / 2, 8 * e + lane % 4 * 2 + i % 2, place) = sums[pair][e][i];
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kOwn; ++n) {
    const int sentence = (static_cast<int>(threadIdx.x) + n * kFewThreads) / kCellUnits;
    if (sentence >= sentences) break;
    float gate[4];
    for (int g = 0; g < 4; ++g) {
      gate[g] = bias[g];
#pragma unroll
      for (int w = 0; w < kFewWarps; ++w) gate[g] += part(w, g, sentence, unit);
    }
    const bfloat16 h = from_float<bfloat16>(lstm_unit<bfloat16>(gate, c[n]));
    const Index row = first + sentence;
    row_of(args.step.h, row)[first_unit + unit] = h;
    row_of(args.step.last_h, row)[first_unit + unit] = h;
    row_of(args.step.last_c, row)[first_unit + unit] = from_float<bfloat16>(c[n]);
  }
}

}  // namespace kernels

template <class T, std::size_t Ways>
void lstm_together(Cuda<T>& device, const std::array<LstmArgs<Cuda<T>>, Ways>& ways) {
  const auto alone = [&] {  // nothing to gain, or not enough shared memory
    for (const auto& way : ways) Ways == 1 ? lstm_stepwise(device, way) : lstm(device, way);
  };
  if (ways[0].rows.longest <= 1) return alone();
  const bool packs = std::ranges::all_of(ways, [](const auto& way) { return in_packs(way.recurrent); });
  const auto run = [&]<int V>() {
    const auto walk = kernels::plan_lstm<false>(device, ways[0], Ways, packs, V);
    if (!walk) return alone();
    kernels::run_lstm(device, "lstm", *walk, kernels::lstm_forward<T, V, true, Ways>,
                      kernels::lstm_forward<T, V, false, Ways>, ways);
  };
  const bool pairs = std::ranges::all_of(ways, [](const auto& way) { return kernels::in_pairs(way); });
  pairs ? run.template operator()<2>() : run.template operator()<1>();
}
template <class T>
void lstm(Cuda<T>& device, const LstmArgs<Cuda<T>>& args) {
  lstm_together(device, std::array{args});
}
template <class T>
void lstm(Cuda<T>& device, const std::array<LstmArgs<Cuda<T>>, 2>& directions) {
  lstm_together(device, directions);
}

template <class T, std::size_t Ways>
void lstm_gradient_together(Cuda<T>& device, const std::array<LstmGradientArgs<Cuda<T>>, Ways>& ways) {
  const auto alone = [&] {
    for (const auto& way : ways) Ways == 1 ? lstm_gradient_stepwise(device, way) : lstm_gradient(device, way);
  };
  if (ways[0].forward.rows.longest <= 1) return alone();
  const bool packs = std::ranges::all_of(ways, [](const auto& way) { return in_packs(way.forward.recurrent); });
  const auto run = [&]<int V>() {
    const auto walk = kernels::plan_lstm<true>(device, ways[0].forward, Ways, packs, V);
    if (!walk) return alone();
    kernels::run_lstm(device, "lstm_gradient", *walk, kernels::lstm_backward<T, V, true, Ways>,
                      kernels::lstm_backward<T, V, false, Ways>, ways);
  };
  const bool pairs = std::ranges::all_of(ways, [](const auto& way) {
    return kernels::in_pairs(way.forward) &&
           kernels::in_pairs(way.dh, way.dlast_h, way.dlast_c, way.dgates, way.dh0.to, way.dc0.to);
  });
  pairs ? run.template operator()<2>() : run.template operator()<1>();
}
template <class T>
void lstm_gradient(Cuda<T>& device, const LstmGradientArgs<Cuda<T>>& args) {
  lstm_gradient_together(device, std::array{args});
}
template <class T>
void lstm_gradient(Cuda<T>& device, const std::array<LstmGradientArgs<Cuda<T>>, 2>& directions) {
  lstm_gradient_together(device, directions);
}

/// Whether to use the kernel above. It reads the weights once per 64 sentences, so cuBLASLt suits many sentences.
inline bool of_few_sentences(const Cuda<bfloat16>& device, const LstmCellArgs<Cuda<bfloat16>>& args) {
  // Hopper and datacenter Blackwell have this much shared memory.
  return device.properties().sharedMemPerBlockOptin >= kernels::kCellShared<8, 4> && args.x.rows > 0 &&
         args.x.rows <= 256 && args.x.cols % kernels::kFewTerms == 0 && args.step.h.cols % kernels::kFewTerms == 0 &&
         in_packs(args.x, args.input, args.step.recurrent, args.step.h0);
}

template <class T>
void lstm_cell_of_few(Cuda<T>& device, const LstmCellArgs<Cuda<T>>& args) {
  const Index slices = args.step.h.cols / kernels::kCellUnits,
              terms_of_h = args.step.h0.data != nullptr ? args.step.h.cols : 0;
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
  // The most sentences per block that still occupy three quarters of the multiprocessors.
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
