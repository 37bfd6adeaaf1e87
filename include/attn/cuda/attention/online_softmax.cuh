#pragma once
#include "attn/cuda/attention/tiles.cuh"

namespace attn::kernels {

/// Online softmax of score rows: a base near the running maximum, and the sum of the weights relative to it. Each thread has two
/// rows; until the end `sum` covers only the thread's own columns.
struct OnlineSoftmax {
  static constexpr float kSlack = 8;  // binary orders that weights may exceed 1 before the base moves
  float scale;                        // score scale times log2(e)
  float base[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  float shrink[2];  // factor of the newest tile for the weights of earlier tiles

  /// Replaces scores by weights. Returns whether any row of the warp shrinks.
  template <int N>
  __device__ bool step(float (&s)[N]) {
    bool moved = false;
    unrolled<2>([&](int half) {
      float top = -INFINITY;
      unrolled<N / 4>([&](int j) { top = fmaxf(top, fmaxf(s[4 * j + 2 * half], s[4 * j + 2 * half + 1])); });
      top = quad_max(top) * scale;
      shrink[half] = 1;
      if (top - base[half] > kSlack) {  // false while both are -inf: no visible key yet
        shrink[half] = power_of_2(base[half] - top);
        base[half] = top;
        moved = true;
      }
      const float origin = base[half] == -INFINITY ? 0 : base[half];
      float total[2] = {};
      unrolled<N / 4, 2>([&](int j, int i) {
        float& x = s[4 * j + 2 * half + i];
        x = power_of_2(fmaf(x, scale, -origin));
        total[i] += x;
      });
      sum[half] = sum[half] * shrink[half] + (total[0] + total[1]);
    });
    return __any_sync(0xffffffffU, moved);
  }

  /// The log-sum-exp of a row whose weights sum to `total`.
  __device__ float log_sum(int half, float total) const {
    return total > 0 ? (base[half] + log2f(total)) * kLn2 : -INFINITY;  // 0: the row sees no key
  }
};

}  // namespace attn::kernels
