#pragma once
#include "attn/cuda/lstm_walk.cuh"

namespace attn::kernels {

template <class T, int V, bool Alone>
__global__ void __launch_bounds__(kLstmThreads) lstm_backward(LstmGradientArgs<Cuda<T>> args, LstmWalk<T> walk) {
  extern __shared__ uint4 lstm_shared[];
  const LstmArgs<Cuda<T>>& forward = args.forward;
  LstmBlock<T, Alone> block(walk, lstm_shared);
  if (walk.packs)
    block.template fill_from_columns<Pack<T>::size>(forward.recurrent);
  else
    block.template fill_from_columns<1>(forward.recurrent);
  const int width = walk.width, direction = forward.reverse ? -1 : 1;
  for (int group = static_cast<int>(blockIdx.y); group < walk.groups; group += static_cast<int>(gridDim.y)) {
    block.enter(group, forward.rows, forward.order, forward.reverse);
    float dc[kLstmCells][V] = {};
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {
      const LstmCell<V> cell(block, k);
      if (!cell.there) continue;
      const Pack<T, V> behind = load_or_zero<V>(args.dlast_c, block.sentence[cell.i], cell.unit);
#pragma unroll
      for (int v = 0; v < V; ++v) dc[k][v] = behind[v];
    }
    int alive = 0;  // of the step behind: their dh is in the sums
    const auto dh_behind = [&](const LstmCell<V>& cell, float(&dh)[1][V]) {
      if (cell.i < alive) {
#pragma unroll
        for (int v = 0; v < V; ++v) dh[0][v] = 0;
        return block.add_sums(dh, cell.i, cell.column);
      }
      const Pack<T, V> last = load_or_zero<V>(args.dlast_h, block.sentence[cell.i], cell.unit);
#pragma unroll
      for (int v = 0; v < V; ++v) dh[0][v] = last[v];
    };
    for (int t = block.length[0] - 1; t >= 0; --t) {
      int now = alive;
      while (now < block.members && block.length[now] > t) ++now;
      Pack<T, V> gates[kLstmCells][4], c[kLstmCells], c_before[kLstmCells],
          dy[kLstmCells];  // they may come while the blocks meet
#pragma unroll
      for (int k = 0; k < kLstmCells; ++k) {
        const LstmCell<V> cell(block, k);
        if (!cell.there || cell.i >= now) continue;
        const Index row = block.first_row[cell.i] + direction * t;
#pragma unroll
        for (int gate = 0; gate < 4; ++gate)
          gates[k][gate] = load_pack<V>(row_of(forward.gates, row) + gate * width + cell.unit);
        c[k] = load_pack<V>(row_of(forward.c, row) + cell.unit);
        c_before[k] = t > 0 ? load_pack<V>(row_of(forward.c, row - direction) + cell.unit)
                            : load_or_zero<V>(forward.c0, block.sentence[cell.i], cell.unit);
        dy[k] = load_or_zero<V>(args.dh, row, cell.unit);
      }
      if (alive > 0) {
        block.meet();
        block.multiply((t + 1) % 2, alive);
      }
#pragma unroll
      for (int k = 0; k < kLstmCells; ++k) {
        const LstmCell<V> cell(block, k);
        if (!cell.there || cell.i >= now) continue;
        float dh[1][V];
        dh_behind(cell, dh);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          const float i = gates[k][0][v], f = gates[k][1][v], g = gates[k][2][v], o = gates[k][3][v];
          const float squashed = tanhf(c[k][v]), dstate = dy[k][v] + dh[0][v];
          const float dcell = dc[k][v] + dstate * o * (1 - squashed * squashed);
          gates[k][0].set(v, dcell * g * i * (1 - i));
          gates[k][1].set(v, dcell * c_before[k][v] * f * (1 - f));
          gates[k][2].set(v, dcell * i * (1 - g * g));
          gates[k][3].set(v, dstate * squashed * o * (1 - o));
          dc[k][v] = dcell * f;
        }
        T* to = row_of(args.dgates, block.first_row[cell.i] + direction * t) + cell.unit;
        T* states = block.states(t % 2, cell.i) + cell.unit;
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) {
          store_pack(to + gate * width, gates[k][gate]);
          store_pack(states + gate * width, gates[k][gate]);
        }
      }
      alive = now;
    }
    if (args.dh0.to.data != nullptr && alive > 0) {
      block.meet();
      block.multiply(0, alive);
    }
#pragma unroll
    for (int k = 0; k < kLstmCells; ++k) {
      const LstmCell<V> cell(block, k);
      if (!cell.there) continue;
      const Index s = block.sentence[cell.i];
      if (args.dh0.to.data != nullptr) {
        float dh[1][V];
        dh_behind(cell, dh);
        put(args.dh0, s, cell.unit, dh[0]);
      }
      if (args.dc0.to.data != nullptr) put(args.dc0, s, cell.unit, dc[k]);
    }
  }
  block.leave();
}

}  // namespace attn::kernels
