#pragma once
#include "attn/cuda/input_feeding/attention.cuh"

namespace attn::kernels {

template <class T, int N>
__global__ void __launch_bounds__(kFeedingThreads)
    input_feeding_forward(const __grid_constant__ InputFeedingArgs<Cuda<T>> args,
                          const __grid_constant__ FeedingWalk<T> walk, int weights_begin) {
  extern __shared__ uint4 feeding_shared[];
  const FeedingBlock<T, N> block(walk, feeding_shared, weights_begin, args.rows, args.order, args.source);
  for (int l = 0; l < args.layers; ++l) block.fetch(walk.gates[l]);
  block.fetch(walk.mix);
  const int width = static_cast<int>(args.width()), units = walk.mix.units, i = block.warp;
  const int passes = (units + kFeedingUnits - 1) / kFeedingUnits;
  for (int pass = 0; pass < passes; ++pass) {  // initial state
    const int unit = block.unit(units, pass, width);
    if (unit < 0 || i >= block.members || block.length[i] == 0) continue;
    set(args.layer[0].below, block.row(0), unit, 0);
    for (int l = 0; l < args.layers; ++l) {
      set(args.layer[l].before, block.row(0), unit, 0);
      block.kept(walk.cells, args.layers, l, unit, width) = 0;
    }
  }
  int active = block.members;
  const int steps = block.length[0];
  for (int t = 0; t < steps; ++t) {
    while (block.length[active - 1] <= t) --active;
    const bool lives = i < active, goes_on = lives && block.length[i] > t + 1;
    const Index r = lives ? block.row(t) : 0;

    for (int l = 0; l < args.layers; ++l) {
      const InputFeedingLayer<Cuda<T>>& layer = args.layer[l];
      sync_cluster();
      const auto below = block.operand(layer.below, t, active), before = block.operand(layer.before, t, active);
      for (int pass = 0; pass < passes; ++pass) {
        const int unit = block.unit(units, pass, width);
        const bool there = lives && unit >= 0;
        float gate[4], c = 0;
        if (there) {  // these loads overlap the product
          const T* from = layer.bias == nullptr ? row_of(layer.gates, r) : layer.bias;
          for (int k = 0; k < 4; ++k) gate[k] = to_float(from[k * width + unit]);
          c = block.kept(walk.cells, args.layers, l, unit, width);
        }
        block.multiply(walk.gates[l], pass, below, before);
        if (!there) continue;
        for (int k = 0; k < 4; ++k) gate[k] += block.sum(walk.gates[l], pass, k);
        const float h = lstm_unit<T>(gate, c);
        for (int k = 0; k < 4; ++k) set(layer.gates, r, k * width + unit, gate[k]);
        set(layer.c, r, unit, c);
        block.kept(walk.cells, args.layers, l, unit, width) = c;
        if (goes_on) set(layer.before, r + 1, unit, h);
        if (l + 1 < args.layers)
          set(args.layer[l + 1].below, r, unit, h * dropped(args.layer[l + 1].dropout, r, unit));
        else
          set(args.seen, r, unit, h);
      }
    }

    sync_cluster();
    for (int s = block.rank; s < active; s += walk.blocks) feeding_attention(block, args, s, Index{block.first_row[s]} + t);

    sync_cluster();
    const auto h = block.operand(args.seen, t, active), c = block.operand(args.seen, t, active, width);
    for (int pass = 0; pass < passes; ++pass) {
      block.multiply(walk.mix, pass, h, c);
      const int unit = block.unit(units, pass, width);
      if (!lives || unit < 0) continue;
      const float a = lstm_tanh<T>(block.sum(walk.mix, pass, 0)) * dropped(args.dropout, r, unit);
      set(args.fed, r, unit, a);
      if (goes_on) set(args.layer[0].below, r + 1, unit, a);
    }
  }
}

}  // namespace attn::kernels
