#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/ops/activation.hpp"

namespace attn {
namespace kernels {

__device__ inline float gelu_tanh(float x) {
  return tanhf(static_cast<float>(gelu_numbers::slope) * x * (1 + static_cast<float>(gelu_numbers::cube) * x * x));
}
__device__ inline float gelu_erf(float x) { return erff(x * static_cast<float>(gelu_numbers::root_half)); }

__device__ inline float activated(ActivationKind kind, float x) {
  switch (kind) {
    case ActivationKind::relu:
      return fmaxf(x, 0);
    case ActivationKind::gelu:
      return 0.5f * x * (1 + gelu_tanh(x));
    case ActivationKind::gelu_exact:
      return 0.5f * x * (1 + gelu_erf(x));
    case ActivationKind::swish:
      break;
  }
  return x / (1 + expf(-x));
}

/// f'(x)
__device__ inline float activation_slope(ActivationKind kind, float x) {
  using namespace gelu_numbers;
  switch (kind) {
    case ActivationKind::relu:
      return x > 0 ? 1 : 0;
    case ActivationKind::gelu: {
      const float near = fminf(fmaxf(x, static_cast<float>(-flat)), static_cast<float>(flat)), t = gelu_tanh(near);
      const float inner = static_cast<float>(slope) * (1 + static_cast<float>(3 * cube) * near * near);
      return 0.5f * (1 + t + near * (1 - t * t) * inner);
    }
    case ActivationKind::gelu_exact:
      return 0.5f * (1 + gelu_erf(x)) + x * static_cast<float>(density) * expf(-0.5f * x * x);
    case ActivationKind::swish:
      break;
  }
  const float s = 1 / (1 + expf(-x));
  return s * (1 + x * (1 - s));
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) activation(ActivationArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.y.rows) return;
  for (int j = lane_of_warp() * N; j < args.y.cols; j += 32 * N) {
    Pack<T, N> pack = load_pack<N>(row_of(args.x, i) + j);
#pragma unroll
    for (int k = 0; k < N; ++k) pack.set(k, activated(args.kind, pack[k]));
    store_pack(row_of(args.y, i) + j, pack);
  }
}

template <int N, class T>
__global__ void __launch_bounds__(32 * kRowWarps) activation_gradient(ActivationGradientArgs<Cuda<T>> args) {
  const Index i = row_of_warp();
  if (i >= args.x.rows) return;
  for (int j = lane_of_warp() * N; j < args.x.cols; j += 32 * N) {
    const Pack<T, N> dy = load_pack<N>(row_of(args.dy, i) + j), x = load_pack<N>(row_of(args.x, i) + j);
    float dx[N];
#pragma unroll
    for (int k = 0; k < N; ++k) dx[k] = dy[k] * activation_slope(args.kind, x[k]);
    put(args.dx, i, j, dx);
  }
}

}  // namespace kernels

template <class T>
void activation(Cuda<T>& device, const ActivationArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.x, args.y),
                [&]<int N>() { launch(device, "activation", warp_a_row(args.y.rows), kernels::activation<N, T>, args); });
}

template <class T>
void activation_gradient(Cuda<T>& device, const ActivationGradientArgs<Cuda<T>>& args) {
  with_packs<T>(in_packs(args.dy, args.x, args.dx.to), [&]<int N>() {
    launch(device, "activation_gradient", warp_a_row(args.x.rows), kernels::activation_gradient<N, T>, args);
  });
}

}  // namespace attn
