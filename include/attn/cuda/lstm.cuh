#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "attn/cuda/lstm/backward.cuh"
#include "attn/cuda/lstm/forward.cuh"
#include "attn/cuda/lstm/step.cuh"

namespace attn {
namespace lstm_detail {

/// Plans `ways` concurrent walks with cells of `cell` units; nullopt if the weights do not fit into shared memory.
template <bool Backward, class T>
std::optional<kernels::LstmWalk<T>> plan(Cuda<T>& device, const LstmArgs<Cuda<T>>& args, int ways, bool packs, int cell) {
  const int most = cell * kernels::kLstmCells * kernels::kLstmThreads;  // units per block, over all its sentences
  const auto up = [](Index number, Index step) { return static_cast<int>(divide_up(number, step) * step); };
  const int width = static_cast<int>(args.h.cols), blocks = device.multiprocessors() / ways,
            terms = (Backward ? 4 : 1) * width;
  for (const int units : {up(width, 8), 16, 8}) {
    const int slices = static_cast<int>(divide_up(width, units)), columns = (Backward ? 1 : 4) * units;
    if (units * 16 > most || slices > blocks) continue;
    // Blocks with more than 16 sentences also have more products. The order of sums does not depend on the number of
    // sentences: each gives the same bits in any batch.
    const Index products = divide_up(columns, 8 * kernels::lstm_tiles(slices == 1, Backward)) * (slices == 1 ? 1 : 4);
    const Index chunks = divide_up(terms, kernels::kLstmChunk);
    const int share = slices == 1 ? 16 : up(divide_up(args.rows.count, blocks / slices), 16);
    for (int sentences = std::min(std::max(share, 16), most / units / 16 * 16); sentences >= 16; sentences -= 16) {
      kernels::LstmWalk<T> walk{
          .width = width,
          .units = units,
          .slices = slices,
          .sentences = sentences,
          .groups = static_cast<int>(divide_up(args.rows.count, sentences)),
          .terms = terms,
          .columns = columns,
          .parts = static_cast<int>(std::clamp<Index>(kernels::kLstmWarps / products, 1, std::min<Index>(chunks, 8))),
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
void run(Cuda<T>& device, const char* what, const kernels::LstmWalk<T>& walk,
         void (*alone)(kernels::LstmWays<Args, Ways>, kernels::LstmWalk<T>),
         void (*together)(kernels::LstmWays<Args, Ways>, kernels::LstmWalk<T>), const std::array<Args, Ways>& ways) {
  kernels::LstmWays<Args, Ways> all;
  std::ranges::copy(ways, all.way);
  const int at_once = std::min(walk.groups, device.multiprocessors() / static_cast<int>(Ways) / walk.slices);
  const Spread spread{{static_cast<unsigned>(walk.slices), static_cast<unsigned>(at_once), static_cast<unsigned>(Ways)},
                      kernels::kLstmThreads,
                      walk.shared()};
  if (walk.slices == 1)
    launch(device, what, spread, alone, all, walk);
  else
    launch_cooperative(device, what, spread, together, all, walk);
}

}  // namespace lstm_detail

template <class T, std::size_t Ways>
void lstm(Cuda<T>& device, const std::array<LstmArgs<Cuda<T>>, Ways>& ways) {
  const auto alone = [&] {  // nothing to gain, or not enough shared memory
    for (const auto& way : ways) Ways == 1 ? lstm_stepwise(device, way) : lstm(device, way);
  };
  if (ways[0].rows.longest <= 1) return alone();
  const bool packs = std::ranges::all_of(ways, [](const auto& way) { return in_packs(way.recurrent); });
  const auto run = [&]<int V>() {
    const auto walk = lstm_detail::plan<false>(device, ways[0], Ways, packs, V);
    if (!walk) return alone();
    lstm_detail::run(device, "lstm", *walk, kernels::lstm_forward<T, V, true, Ways>,
                     kernels::lstm_forward<T, V, false, Ways>, ways);
  };
  const bool pairs = std::ranges::all_of(ways, [](const auto& way) { return lstm_detail::in_pairs(way); });
  pairs ? run.template operator()<2>() : run.template operator()<1>();
}
template <class T>
void lstm(Cuda<T>& device, const LstmArgs<Cuda<T>>& args) {
  lstm(device, std::array{args});
}

template <class T, std::size_t Ways>
void lstm_gradient(Cuda<T>& device, const std::array<LstmGradientArgs<Cuda<T>>, Ways>& ways) {
  const auto alone = [&] {
    for (const auto& way : ways) Ways == 1 ? lstm_gradient_stepwise(device, way) : lstm_gradient(device, way);
  };
  if (ways[0].forward.rows.longest <= 1) return alone();
  const bool packs = std::ranges::all_of(ways, [](const auto& way) { return in_packs(way.forward.recurrent); });
  const auto run = [&]<int V>() {
    const auto walk = lstm_detail::plan<true>(device, ways[0].forward, Ways, packs, V);
    if (!walk) return alone();
    lstm_detail::run(device, "lstm_gradient", *walk, kernels::lstm_backward<T, V, true, Ways>,
                     kernels::lstm_backward<T, V, false, Ways>, ways);
  };
  const bool pairs = std::ranges::all_of(ways, [](const auto& way) {
    return lstm_detail::in_pairs(way.forward) &&
           lstm_detail::in_pairs(way.dh, way.dlast_h, way.dlast_c, way.dgates, way.dh0.to, way.dc0.to);
  });
  pairs ? run.template operator()<2>() : run.template operator()<1>();
}
template <class T>
void lstm_gradient(Cuda<T>& device, const LstmGradientArgs<Cuda<T>>& args) {
  lstm_gradient(device, std::array{args});
}

}  // namespace attn
