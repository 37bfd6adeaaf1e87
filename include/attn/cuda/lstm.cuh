#pragma once
#include <optional>

#include "attn/cuda/lstm/backward.cuh"
#include "attn/cuda/lstm/forward.cuh"
#include "attn/cuda/lstm/step.cuh"
#include "attn/cuda/support/cooperative_launch.cuh"

namespace attn {
namespace lstm_detail {

/// How to spread a walk in cells of so many units, if the weights fit into shared memory.
template <bool Backward, class T>
std::optional<kernels::LstmWalk<T>> plan(Cuda<T>& device, const LstmArgs<Cuda<T>>& args, int cell) {
  const int most = cell * kernels::kLstmCells * kernels::kLstmThreads;  // units of a block, over all its sentences
  const auto up = [](Index number, Index step) { return static_cast<int>(divide_up(number, step) * step); };
  const int width = static_cast<int>(args.h.cols), blocks = device.multiprocessors(), terms = (Backward ? 4 : 1) * width;
  for (const int units : {up(width, 8), 16, 8}) {
    const int slices = static_cast<int>(divide_up(width, units)), columns = (Backward ? 1 : 4) * units;
    if (units * 16 > most || slices > blocks) continue;
    // Where blocks have more than 16 sentences, there are more products too. The sums do not depend on how many sentences there
    // are: each gives the same bits in any batch.
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
          .packs = in_packs(args.recurrent)};
      if (walk.shared() > device.properties().sharedMemPerBlockOptin) continue;
      if (slices == 1) return walk;
      walk.exchange = device.template workspace<T>(Index{2} * walk.groups * sentences * walk.stride());
      walk.tickets = device.tickets(2 * blocks);
      return walk;
    }
  }
  return std::nullopt;
}

/// Whether two neighbours of a row can be read and written at once.
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

template <class T, class Args>
void run(Cuda<T>& device, const char* what, const kernels::LstmWalk<T>& walk, void (*alone)(Args, kernels::LstmWalk<T>),
         void (*together)(Args, kernels::LstmWalk<T>), const Args& args) {
  const int at_once = std::min(walk.groups, device.multiprocessors() / walk.slices);
  const Spread spread{
      {static_cast<unsigned>(walk.slices), static_cast<unsigned>(at_once)}, kernels::kLstmThreads, walk.shared()};
  if (walk.slices == 1)
    launch(device, what, spread, alone, args, walk);
  else
    launch_cooperative(device, what, spread, together, args, walk);
}

}  // namespace lstm_detail

template <class T>
void lstm(Cuda<T>& device, const LstmArgs<Cuda<T>>& args) {
  if (args.rows.longest <= 1) return lstm_stepwise(device, args);
  const auto run = [&]<int V>() {
    const auto walk = lstm_detail::plan<false>(device, args, V);
    if (!walk) return lstm_stepwise(device, args);
    lstm_detail::run(device, "lstm", *walk, kernels::lstm_forward<T, V, true>, kernels::lstm_forward<T, V, false>, args);
  };
  lstm_detail::in_pairs(args) ? run.template operator()<2>() : run.template operator()<1>();
}

template <class T>
void lstm_gradient(Cuda<T>& device, const LstmGradientArgs<Cuda<T>>& args) {
  if (args.forward.rows.longest <= 1) return lstm_gradient_stepwise(device, args);
  const auto run = [&]<int V>() {
    const auto walk = lstm_detail::plan<true>(device, args.forward, V);
    if (!walk) return lstm_gradient_stepwise(device, args);
    lstm_detail::run(device, "lstm_gradient", *walk, kernels::lstm_backward<T, V, true>,
                     kernels::lstm_backward<T, V, false>, args);
  };
  const bool pairs = lstm_detail::in_pairs(args.forward) &&
                     lstm_detail::in_pairs(args.dh, args.dlast_h, args.dlast_c, args.dgates, args.dh0.to, args.dc0.to);
  pairs ? run.template operator()<2>() : run.template operator()<1>();
}

}  // namespace attn
