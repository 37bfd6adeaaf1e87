#pragma once
#include "attn/cuda/input_feeding/walk.cuh"

// The walks, and their block-level attention of one state over its source: each warp scores a key, then the threads sum columns.

namespace attn::kernels {

/// Buffers for one source, in the block's memory for sums.
struct FeedingAttention {
  float* memory;
  int width, value, longest;
  float *state = memory, *dcontext = state + width;               // width, value width
  float *weight = dcontext + value, *dweight = weight + longest;  // of each key
  float* parts = dweight + longest;                               // of sums over keys
};

/// Size of these buffers in floats. Partial sums take N columns per thread, or all columns.
template <class T>
int feeding_attention_numbers(int width, int value, int longest) {
  return width + value + 2 * longest + std::max({kFeedingThreads * Pack<T>::size, width, value});
}

/// Copies a row written by other blocks to shared memory.
template <int N, class T>
__device__ void load_state(float* to, const T* row, int count) {
  for (int j = static_cast<int>(threadIdx.x) * Pack<T>::size; j < count; j += kFeedingThreads * Pack<T>::size) {
    const Pack<T> pack = load_operand<N>(row, j, count);
    for (int k = 0; k < Pack<T>::size && j + k < count; ++k) to[j + k] = pack[k];
  }
}

/// Warp-level dot product of a row and floats in shared memory; every lane gets it.
template <int N, class T>
__device__ float dot(const T* row, const float* numbers, int count, int lane) {
  float sum = 0;
  for (int j = lane * N; j < count; j += 32 * N) {
    const Pack<T, N> pack = load_pack<N>(row + j);
    for (int k = 0; k < N; ++k) sum += pack[k] * numbers[j + k];
  }
  return warp_sum(sum);
}

/// Calls give(column, sum of weight[j] * row j) for each column.
template <int N, class T, class Give>
__device__ void weighted_sum(const Matrix<const T>& matrix, Index first, int count, const float* weight, float* parts,
                             const Give& give) {
  const int cols = static_cast<int>(matrix.cols), packs = (cols + N - 1) / N, across = min(packs, kFeedingThreads);
  const int groups = kFeedingThreads / across, part = static_cast<int>(threadIdx.x) / across;
  if (part < groups)
    for (int pack = static_cast<int>(threadIdx.x) % across; pack < packs; pack += across) {
      float sum[N] = {};
#pragma unroll 4
      for (int j = part; j < count; j += groups) {
        const Pack<T, N> numbers = load_pack<N>(row_of(matrix, first + j) + pack * N);
        for (int k = 0; k < N; ++k) sum[k] += weight[j] * numbers[k];
      }
      for (int k = 0; k < N; ++k) parts[part * cols + pack * N + k] = sum[k];
    }
  __syncthreads();
  for (int column = static_cast<int>(threadIdx.x); column < cols; column += kFeedingThreads) {
    float total = 0;
    for (int i = 0; i < groups; ++i) total += parts[i * cols + column];
    give(column, total);
  }
}

/// Computes the context of row r, the state of the group's sentence i.
template <int N, class T>
__device__ void feeding_attention(const FeedingBlock<T, N>& block, const InputFeedingArgs<Cuda<T>>& args, int i, Index r) {
  const int width = static_cast<int>(args.width()), count = block.keys[i];
  const Index first = block.first_key[i];
  const FeedingAttention at{block.sums, width, static_cast<int>(args.values.cols), block.walk.source_longest};
  __syncthreads();  // the buffers have been read
  load_state<N>(at.state, row_of(args.seen, r), width);
  __syncthreads();
  for (int j = block.warp; j < count; j += kFeedingWarps) {
    const float score = dot<N>(row_of(args.keys, first + j), at.state, width, block.lane);
    if (block.lane == 0) at.weight[j] = score * static_cast<float>(args.scale);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0;  // every warp computes both
  for (int j = block.lane; j < count; j += 32) most = fmaxf(most, at.weight[j]);
  most = warp_max(most);
  for (int j = block.lane; j < count; j += 32) sum += expf(at.weight[j] - most);
  sum = warp_sum(sum);
  if (threadIdx.x == 0) args.lse[r] = count > 0 ? most + logf(sum) : -INFINITY;
  for (int j = static_cast<int>(threadIdx.x); j < count; j += kFeedingThreads)
    at.dweight[j] = expf(at.weight[j] - most) / sum;
  __syncthreads();
  weighted_sum<N>(args.values, first, count, at.dweight, at.parts,
                  [&](int column, float total) { set(args.seen, r, width + column, total); });
}

/// Calls give(column, gradient of the state of row r through its scores).
template <int N, class T, class Give>
__device__ void feeding_attention_gradient(const FeedingBlock<T, N>& block, const InputFeedingGradientArgs<Cuda<T>>& args,
                                           int i, Index r, const Give& give) {
  const InputFeedingArgs<Cuda<T>>& f = args.forward;
  const int width = static_cast<int>(f.width()), value = static_cast<int>(f.values.cols), count = block.keys[i];
  const Index first = block.first_key[i];
  const auto scale = static_cast<float>(f.scale);
  const FeedingAttention at{block.sums, width, value, block.walk.source_longest};
  __syncthreads();  // the buffers have been read
  load_state<N>(at.state, row_of(f.seen, r), width);
  load_state<N>(at.dcontext, row_of(args.dcontext, r), value);
  __syncthreads();
  const float lse = f.lse[r];
  for (int j = block.warp; j < count; j += kFeedingWarps) {
    const float score = dot<N>(row_of(f.keys, first + j), at.state, width, block.lane);
    const float dweight = dot<N>(row_of(f.values, first + j), at.dcontext, value, block.lane);
    if (block.lane != 0) continue;
    at.weight[j] = expf(score * scale - lse);
    at.dweight[j] = dweight;
  }
  __syncthreads();
  float both = 0;  // every warp computes it
  for (int j = block.lane; j < count; j += 32) both += at.weight[j] * at.dweight[j];
  both = warp_sum(both);
  __syncthreads();
  for (int j = static_cast<int>(threadIdx.x); j < count; j += kFeedingThreads)
    at.weight[j] *= scale * (at.dweight[j] - both);
  __syncthreads();
  weighted_sum<N>(f.keys, first, count, at.weight, at.parts, give);
}

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
