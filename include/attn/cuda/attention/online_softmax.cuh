#pragma once
#include "attn/cuda/attention/tiles.cuh"

namespace attn::kernels {

/// Online softmax of score rows: the running maximum, and the sum of the weights relative to it. Each thread has two rows;
/// until the end `sum` covers only the thread's own columns.
struct OnlineSoftmax {
  float scale;  // score scale times log2(e)
  float most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  float shrink[2];  // factor of the newest tile for the weights of earlier tiles

  /// Replaces scores by weights.
  template <int N>
  __device__ void step(float (&s)[N]) {
    unrolled<2>([&](int half) {
      float top = most[half];
      unrolled<N / 4>([&](int j) { top = fmaxf(top, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1])); });
      top = quad_max(top);
      const float base = top == -INFINITY ? 0 : top * scale;  // -inf: no visible key yet
      shrink[half] = power_of_2(most[half] * scale - base);
      most[half] = top;
      float total[2] = {};
      unrolled<N / 4, 2>([&](int j, int i) {
        float& x = s[4 * j + 2 * half + i];
        x = power_of_2(fmaf(x, scale, -base));
        total[i] += x;
      });
      sum[half] = sum[half] * shrink[half] + (total[0] + total[1]);
    });
  }
};

}  // namespace attn::kernels
