#pragma once
#include "attn/cuda/lstm/walk.cuh"

namespace attn::kernels {

template <class T, int V, bool Alone, std::size_t Ways>
__global__ void __launch_bounds__(kLstmThreads)
    lstm_forward(const __grid_constant__ LstmWays<LstmArgs<Cuda<T>>, Ways> ways, const __grid_constant__ LstmWalk<T> walk) {
  extern __shared__ uint4 lstm_shared[];
  const LstmArgs<Cuda<T>>& args = ways.of_block();
  LstmBlock<T, Alone, false> block(walk, lstm_shared);
  block.fill_from_rows(args.recurrent);
  const int width = walk.width, direction = args.reverse ? -1 : 1;
  for (int group = static_cast<int>(blockIdx.y); group < walk.groups; group += static_cast<int>(gridDim.y)) {
    block.enter(group, args.rows, args.order, args.reverse);
    LstmCell<V> cells[kLstmCells];
    Pack<T, V> h[kLstmCells] = {}, x[kLstmCells][4] = {};
    float c[kLstmCells][V] = {};
    const auto load = [&](int k, int t) {  // prefetches the input's gates while the previous step is computed
      const T* from = row_of(args.gates, cells[k].first_row + Index{direction} * t) + cells[k].unit;
      for (int gate = 0; gate < 4; ++gate) x[k][gate] = load_pack<V>(from + gate * width);
    };
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {
      cells[k] = LstmCell<V>(block, k);
      if (!cells[k].there) continue;
      h[k] = load_or_zero<V>(args.h0, cells[k].sentence, cells[k].unit);
      const Pack<T, V> before = load_or_zero<V>(args.c0, cells[k].sentence, cells[k].unit);
      for (int v = 0; v < V; ++v) c[k][v] = before[v];
      store_pack(block.states(0, cells[k].i) + cells[k].unit, h[k]);
      if (cells[k].length > 0) load(k, 0);
    }
    int active = block.members;
    const int steps = block.length[0];
    for (int t = 0; t < steps; ++t) {
      const bool product = t > 0 || args.h0.data != nullptr;
      while (block.length[active - 1] <= t) --active;
      if (product) {
        block.sync();
        block.multiply(t % 2, active);
      }
#pragma unroll
      for (int k = 0; k < kLstmCells; ++k) {
        const LstmCell<V>& cell = cells[k];
        if (t >= cell.length) continue;
        float gates[V][4];
        for (int v = 0; v < V; ++v)
          for (int gate = 0; gate < 4; ++gate) gates[v][gate] = x[k][gate][v];
        if (t + 1 < cell.length) load(k, t + 1);
        if (product) block.add_sums(gates, cell.i, cell.column);
        const Index row = cell.first_row + Index{direction} * t;
        if (args.keep) store_pack(row_of(args.previous, row) + cell.unit, h[k]);
        Pack<T, V> state, activated[4];
        for (int v = 0; v < V; ++v) {
          h[k].set(v, lstm_unit<T>(gates[v], c[k][v]));
          state.set(v, c[k][v]);
          for (int gate = 0; gate < 4; ++gate) activated[gate].set(v, gates[v][gate]);
        }
        store_pack(block.states((t + 1) % 2, cell.i) + cell.unit, h[k]);
        store_pack(row_of(args.h, row) + cell.unit, h[k]);
        if (!args.keep) continue;
        store_pack(row_of(args.c, row) + cell.unit, state);
        for (int gate = 0; gate < 4; ++gate)
          store_pack(row_of(args.gates, row) + gate * width + cell.unit, activated[gate]);
      }
    }
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {  // unchanged since the sentence ended
      const LstmCell<V>& cell = cells[k];
      if (!cell.there) continue;
      if (args.last_h.data != nullptr) store_pack(row_of(args.last_h, cell.sentence) + cell.unit, h[k]);
      if (args.last_c.data == nullptr) continue;
      Pack<T, V> last;
      for (int v = 0; v < V; ++v) last.set(v, c[k][v]);
      store_pack(row_of(args.last_c, cell.sentence) + cell.unit, last);
    }
  }
  block.leave();
}

template <class T, int V, bool Alone, std::size_t Ways>
__global__ void __launch_bounds__(kLstmThreads)
    lstm_backward(const __grid_constant__ LstmWays<LstmGradientArgs<Cuda<T>>, Ways> ways,
                  const __grid_constant__ LstmWalk<T> walk) {
  extern __shared__ uint4 lstm_shared[];
  const LstmGradientArgs<Cuda<T>>& args = ways.of_block();
  const LstmArgs<Cuda<T>>& forward = args.forward;
  LstmBlock<T, Alone, true> block(walk, lstm_shared);
  if (walk.packs)
    block.template fill_from_columns<Pack<T>::size>(forward.recurrent);
  else
    block.template fill_from_columns<1>(forward.recurrent);
  const int width = walk.width, direction = forward.reverse ? -1 : 1;
  for (int group = static_cast<int>(blockIdx.y); group < walk.groups; group += static_cast<int>(gridDim.y)) {
    block.enter(group, forward.rows, forward.order, forward.reverse);
    const int steps = block.length[0];
    LstmCell<V> cells[kLstmCells];
    Pack<T, V> gates[kLstmCells][4] = {}, c[kLstmCells] = {}, c_before[kLstmCells] = {}, dy[kLstmCells] = {};
    float dc[kLstmCells][V] = {};
    const auto load = [&](int k, int t) {  // prefetches step t's inputs while the step after it is computed
      const LstmCell<V>& cell = cells[k];
      const Index row = cell.first_row + Index{direction} * t;
      const bool last = t == cell.length - 1;
      c[k] = last ? load_pack<V>(row_of(forward.c, row) + cell.unit) : c_before[k];
      for (int gate = 0; gate < 4; ++gate)
        gates[k][gate] = load_pack<V>(row_of(forward.gates, row) + gate * width + cell.unit);
      c_before[k] = t > 0 ? load_pack<V>(row_of(forward.c, row - direction) + cell.unit)
                          : load_or_zero<V>(forward.c0, cell.sentence, cell.unit);
      dy[k] = load_or_zero<V>(args.dh, row, cell.unit);
    };
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {
      cells[k] = LstmCell<V>(block, k);
      if (!cells[k].there) continue;
      const Pack<T, V> after = load_or_zero<V>(args.dlast_c, cells[k].sentence, cells[k].unit);
      for (int v = 0; v < V; ++v) dc[k][v] = after[v];
      if (steps > 0 && cells[k].length == steps) load(k, steps - 1);
    }
    // Adds the gradient of h after step t that comes from step t + 1, or from after the sentence.
    const auto add_behind = [&](const LstmCell<V>& cell, int t, float(&dh)[V][1]) {
      if (t + 1 < cell.length) return block.add_sums(dh, cell.i, cell.column);
      const Pack<T, V> last = load_or_zero<V>(args.dlast_h, cell.sentence, cell.unit);
      for (int v = 0; v < V; ++v) dh[v][0] += last[v];
    };
    int active = 0;  // active at step t + 1: their gradients are the states of the next product
    for (int t = steps - 1; t >= 0; --t) {
      if (active > 0) {
        block.sync();
        block.multiply((t + 1) % 2, active);
      }
      while (active < block.members && block.length[active] > t) ++active;
#pragma unroll
      for (int k = 0; k < kLstmCells; ++k) {
        const LstmCell<V>& cell = cells[k];
        float gate[V][4], state[V], before[V], dh[V][1];
        for (int v = 0; v < V; ++v) {
          for (int i = 0; i < 4; ++i) gate[v][i] = gates[k][i][v];
          state[v] = c[k][v];
          before[v] = c_before[k][v];
          dh[v][0] = dy[k][v];
        }
        if (t > 0 && t <= cell.length) load(k, t - 1);
        if (t >= cell.length) continue;
        add_behind(cell, t, dh);
        Pack<T, V> gradients[4];
        for (int v = 0; v < V; ++v) {
          lstm_unit_gradient<T>(gate[v], before[v], state[v], dh[v][0], dc[k][v]);
          for (int i = 0; i < 4; ++i) gradients[i].set(v, gate[v][i]);
        }
        T* to = row_of(args.dgates, cell.first_row + Index{direction} * t) + cell.unit;
        T* states = block.states(t % 2, cell.i) + cell.unit;
        for (int i = 0; i < 4; ++i) {
          store_pack(states + i * width, gradients[i]);
          store_pack(to + i * width, gradients[i]);
        }
      }
    }
    if (args.dh0.to.data != nullptr && active > 0) {
      block.sync();
      block.multiply(0, active);
    }
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {
      const LstmCell<V>& cell = cells[k];
      if (!cell.there) continue;
      if (args.dh0.to.data != nullptr) {
        float dh[V][1] = {}, row[V];
        add_behind(cell, -1, dh);
        for (int v = 0; v < V; ++v) row[v] = dh[v][0];
        put(args.dh0, cell.sentence, cell.unit, row);
      }
      if (args.dc0.to.data != nullptr) put(args.dc0, cell.sentence, cell.unit, dc[k]);
    }
  }
  block.leave();
}

}  // namespace attn::kernels
