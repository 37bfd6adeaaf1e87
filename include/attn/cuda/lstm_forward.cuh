#pragma once
#include "attn/cuda/lstm_walk.cuh"

namespace attn::kernels {

__device__ inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

template <class T, int V, bool Alone>
__global__ void __launch_bounds__(kLstmThreads) lstm_forward(LstmArgs<Cuda<T>> args, LstmWalk<T> walk) {
  extern __shared__ uint4 lstm_shared[];
  LstmBlock<T, Alone> block(walk, lstm_shared);
  if (walk.packs)
    block.template fill_from_rows<Pack<T>::size>(args.recurrent);
  else
    block.template fill_from_rows<1>(args.recurrent);
  const int width = walk.width, direction = args.reverse ? -1 : 1;
  for (int group = static_cast<int>(blockIdx.y); group < walk.groups; group += static_cast<int>(gridDim.y)) {
    block.enter(group, args.rows, args.order, args.reverse);
    Pack<T, V> h[kLstmCells] = {};
    float c[kLstmCells][V] = {};
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {
      const LstmCell<V> cell(block, k);
      if (!cell.there) continue;
      const Index s = block.sentence[cell.i];
      h[k] = load_or_zero<V>(args.h0, s, cell.unit);
      const Pack<T, V> before = load_or_zero<V>(args.c0, s, cell.unit);
#pragma unroll
      for (int v = 0; v < V; ++v) c[k][v] = before[v];
      store_pack(block.states(0, cell.i) + cell.unit, h[k]);
    }
    int alive = block.members;
    const int steps = block.length[0];
    for (int t = 0; t < steps; ++t) {
      const bool product = t > 0 || args.h0.data != nullptr;
      while (block.length[alive - 1] <= t) --alive;
      Pack<T, V> x[kLstmCells][4];  // they may come while the blocks meet
#pragma unroll
      for (int k = 0; k < kLstmCells; ++k) {
        const LstmCell<V> cell(block, k);
        if (!cell.there || cell.i >= alive) continue;
        const T* gates = row_of(args.gates, block.first_row[cell.i] + direction * t) + cell.unit;
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) x[k][gate] = load_pack<V>(gates + gate * width);
      }
      if (product) {
        block.meet();
        block.multiply(t % 2, alive);
      }
#pragma unroll
      for (int k = 0; k < kLstmCells; ++k) {
        const LstmCell<V> cell(block, k);
        if (!cell.there || cell.i >= alive) continue;
        const Index row = block.first_row[cell.i] + direction * t;
        store_pack(row_of(args.previous, row) + cell.unit, h[k]);
        Pack<T, V> state;
        float z[4][V];
#pragma unroll
        for (int gate = 0; gate < 4; ++gate)
#pragma unroll
          for (int v = 0; v < V; ++v) z[gate][v] = x[k][gate][v];
        if (product) block.add_sums(z, cell.i, cell.column);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const float i = sigmoid(z[0][v]), f = sigmoid(z[1][v]), g = tanhf(z[2][v]), o = sigmoid(z[3][v]);
          c[k][v] = f * c[k][v] + i * g;
          h[k].set(v, o * tanhf(c[k][v]));
          state.set(v, c[k][v]);
          x[k][0].set(v, i);
          x[k][1].set(v, f);
          x[k][2].set(v, g);
          x[k][3].set(v, o);
        }
        T* gates = row_of(args.gates, row) + cell.unit;
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) store_pack(gates + gate * width, x[k][gate]);
        store_pack(row_of(args.h, row) + cell.unit, h[k]);
        store_pack(row_of(args.c, row) + cell.unit, state);
        store_pack(block.states((t + 1) % 2, cell.i) + cell.unit, h[k]);
      }
    }
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {  // still as they were when the sentence ended
      const LstmCell<V> cell(block, k);
      if (!cell.there) continue;
      const Index s = block.sentence[cell.i];
      if (args.last_h.data != nullptr) store_pack(row_of(args.last_h, s) + cell.unit, h[k]);
      if (args.last_c.data == nullptr) continue;
      Pack<T, V> last;
#pragma unroll
      for (int v = 0; v < V; ++v) last.set(v, c[k][v]);
      store_pack(row_of(args.last_c, s) + cell.unit, last);
    }
  }
  block.leave();
}

}  // namespace attn::kernels
