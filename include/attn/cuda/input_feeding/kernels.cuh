#pragma once
#include "attn/cuda/input_feeding/attention.cuh"

// The forward and the backward walk through all steps: see walk.cuh.

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

/// Replaces one unit's gates by their gradients; dh is the gradient of its state.
template <class T, int N>
__device__ void feeding_cell_gradient(const FeedingBlock<T, N>& block, const InputFeedingArgs<Cuda<T>>& f, int l, int t,
                                      int unit, float dh) {
  const InputFeedingLayer<Cuda<T>>& layer = f.layer[l];
  const int width = static_cast<int>(f.width());
  const Index r = block.row(t);
  float gate[4], &dc = block.kept(block.walk.cells, f.layers, l, unit, width);
  for (int k = 0; k < 4; ++k) gate[k] = to_float(row_of(layer.gates, r)[k * width + unit]);
  const float c = to_float(row_of(layer.c, r)[unit]), before = t > 0 ? to_float(row_of(layer.c, r - 1)[unit]) : 0;
  float dcell = dc;
  lstm_unit_gradient<T>(gate, before, c, dh, dcell);
  dc = dcell;
  for (int k = 0; k < 4; ++k) set(layer.gates, r, k * width + unit, gate[k]);
}

template <class T, int N>
__global__ void __launch_bounds__(kFeedingThreads)
    input_feeding_backward(const __grid_constant__ InputFeedingGradientArgs<Cuda<T>> args,
                           const __grid_constant__ FeedingWalk<T> walk, int weights_begin) {
  extern __shared__ uint4 feeding_shared[];
  const InputFeedingArgs<Cuda<T>>& f = args.forward;
  const FeedingBlock<T, N> block(walk, feeding_shared, weights_begin, f.rows, f.order, f.source);
  for (int l = 0; l < f.layers; ++l) block.fetch(walk.gates[l]);
  block.fetch(walk.mix);
  block.fetch(walk.context);
  const int width = static_cast<int>(f.width()), context = static_cast<int>(f.context()), i = block.warp;
  const int units = walk.mix.units, passes = (units + kFeedingUnits - 1) / kFeedingUnits, top = f.layers - 1;
  const auto dh = [&](int l, int unit) -> float& { return block.kept(walk.states, f.layers, l, unit, width); };
  for (int pass = 0; pass < passes; ++pass) {  // the last step receives no gradient from later steps
    const int unit = block.unit(units, pass, width);
    if (unit < 0 || i >= block.members) continue;
    for (int l = 0; l < f.layers; ++l) {
      block.kept(walk.cells, f.layers, l, unit, width) = 0;
      dh(l, unit) = 0;
    }
  }
  int active = 0;
  for (int t = block.length[0] - 1; t >= 0; --t) {
    const int after = active;
    while (active < block.members && block.length[active] > t) ++active;
    const bool lives = i < active;
    const Index r = lives ? block.row(t) : 0;

    sync_cluster();  // gradients of the input fed to step t + 1 and of the first layer's state
    const auto dgates = block.operand(f.layer[0].gates, t + 1, after);
    for (int pass = 0; pass < passes; ++pass) {
      if (after > 0) block.multiply(walk.gates[0], pass, dgates);
      const int unit = block.unit(units, pass, width);
      if (!lives || unit < 0) continue;
      float da = args.dfed.data == nullptr ? 0 : to_float(row_of(args.dfed, r)[unit]);
      if (i < after) {
        da += block.sum(walk.gates[0], pass, 0);
        dh(0, unit) = block.sum(walk.gates[0], pass, 1);
      }
      // A kept element is a / (1 - rate); the gradient of a dropped one is 0.
      const float a = to_float(row_of(f.fed, r)[unit]) * (1 - f.dropout.rate);
      set(args.dmix, r, unit, da * dropped(f.dropout, r, unit) * (1 - a * a));
    }

    sync_cluster();
    const auto dmix = block.operand(args.dmix, t, active);
    for (int pass = 0; pass < passes; ++pass) {
      block.multiply(walk.mix, pass, dmix);
      const int unit = block.unit(units, pass, width);
      if (lives && unit >= 0) dh(top, unit) += block.sum(walk.mix, pass, 0);
    }
    for (int pass = 0; pass * kFeedingUnits < walk.context.units; ++pass) {
      block.multiply(walk.context, pass, dmix);
      const int column = block.unit(walk.context.units, pass, context);
      if (!lives || column < 0) continue;
      set(args.dcontext, r, column, to_float(row_of(args.dcontext, r)[column]) + block.sum(walk.context, pass, 0));
    }

    sync_cluster();
    for (int s = block.rank; s < active; s += walk.blocks) {
      float* to = walk.queries + (Index{block.group} * kFeedingSentences + s) * width;
      feeding_attention_gradient(block, args, s, Index{block.first_row[s]} + t,
                                 [&](int column, float total) { to[column] = total; });
    }

    sync_cluster();
    for (int pass = 0; pass < passes; ++pass) {
      const int unit = block.unit(units, pass, width);
      if (!lives || unit < 0) continue;
      const float dq = load_fresh_number(&block.kept(walk.queries, 1, 0, unit, width));
      feeding_cell_gradient(block, f, top, t, unit, dh(top, unit) + dq);
    }
    for (int l = top; l > 0; --l) {
      sync_cluster();
      const auto above = block.operand(f.layer[l].gates, t, active);
      for (int pass = 0; pass < passes; ++pass) {
        block.multiply(walk.gates[l], pass, above);
        const int unit = block.unit(units, pass, width);
        if (!lives || unit < 0) continue;
        const float dbelow = block.sum(walk.gates[l], pass, 0) * dropped(f.layer[l].dropout, r, unit);
        dh(l, unit) = block.sum(walk.gates[l], pass, 1);
        feeding_cell_gradient(block, f, l - 1, t, unit, dh(l - 1, unit) + dbelow);
      }
    }
  }
}

}  // namespace attn::kernels
