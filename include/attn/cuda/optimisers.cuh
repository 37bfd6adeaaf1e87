#pragma once
#include "attn/cuda/device.cuh"
#include "attn/cuda/support/rows.cuh"
#include "attn/cuda/support/sum_parts.cuh"
#include "attn/ops/optimisers.hpp"

// The ops of an optimiser, on flat arrays. A thread computes a pack of 16 bytes of float.

namespace attn {
namespace kernels {

/// parts[b] = the sum of the squares that block b reads.
template <int N>
__global__ void __launch_bounds__(256) sums_of_squares(const float* x, Index count, float* parts) {
  float sums[N] = {};
#pragma unroll 4
  for (Index at = (Index{blockIdx.x} * 256 + threadIdx.x) * N; at + N <= count; at += Index{gridDim.x} * 256 * N) {
    const Pack<float, N> numbers = load_pack<N>(x + at);
    for (int k = 0; k < N; ++k) sums[k] += numbers[k] * numbers[k];
  }
  const Index left = count / N * N + threadIdx.x;  // the elements after the last pack
  if (blockIdx.x == 0 && left < count) sums[0] += x[left] * x[left];
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += sums[k];
  sum = block_sum<8>(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// The factor of every gradient under clipping.
__device__ inline float clip_factor(float clip_norm, const float* squares) {
  return clip_norm > 0 ? fminf(1, clip_norm / (sqrtf(*squares) + 1e-6f)) : 1;
}

/// Whether the step is skipped because its gradients are not finite; if so, the grid's first thread counts it.
template <int N, class Args>
__device__ bool leave_out(const Args& args) {
  if (args.left_out.noted == nullptr || isfinite(*args.squares)) return false;
  float* noted = args.left_out.noted;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    if (noted[0] == 0) noted[1] = static_cast<float>(args.step);
    noted[0] += 1;
  }
  if (!args.left_out.keep_gradients)
    for_each_pack<N>(args.count, [&]<int M>(Index at) { store_pack(args.gradient + at, Pack<float, M>{}); });
  return true;
}

/// Factors of an Adam step, computed on the host in double.
struct AdamFactors {
  float beta1, rest1;  // rest = 1 - beta, computed in double
  float beta2, rest2;
  float epsilon;
  float step, root;       // rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
  float coupled, shrink;  // weight decay, coupled to the gradient or decoupled
  float clip_norm;        // 0: no clipping
  float rate;
  bool decoupled;
};

/// `Grouped`: args.factors is a table.
template <int N, bool Grouped, class T>
__global__ void __launch_bounds__(256) adam(AdamArgs<Cuda<T>> args, AdamFactors by) {
  if (leave_out<N>(args)) return;
  const float clip = clip_factor(by.clip_norm, args.squares);
  for_each_pack<N>(args.count, [&]<int M>(Index at) {
    float coupled = by.coupled, shrink = by.shrink, step = by.step;
    if constexpr (Grouped) {  // a pack never crosses a parameter block
      const UpdateFactors<float> factors = args.factors[at / kParameterBlock];
      if (factors.rate == 0) return store_pack(args.gradient + at, Pack<float, M>{});
      coupled = by.decoupled ? 0 : factors.weight_decay;
      shrink = by.decoupled ? 1 - by.rate * factors.rate * factors.weight_decay : 1;
      step *= factors.rate;
    }
    Pack<float, M> value = load_pack<M>(args.value + at), m = load_pack<M>(args.m + at), v = load_pack<M>(args.v + at);
    const Pack<float, M> gradient = load_pack<M>(args.gradient + at);
    Pack<float, M> largest = v;
    if (args.options.amsgrad) largest = load_pack<M>(args.largest_v + at);
    Pack<T, M> compute;
    for (int k = 0; k < M; ++k) {
      const float g = gradient[k] * clip + coupled * value[k];
      m.set(k, by.beta1 * m[k] + by.rest1 * g);
      v.set(k, by.beta2 * v[k] + by.rest2 * (g * g));
      largest.set(k, args.options.amsgrad ? fmaxf(largest[k], v[k]) : v[k]);
      value.set(k, value[k] * shrink - step * m[k] / (sqrtf(largest[k]) * by.root + by.epsilon));
      compute.set(k, value[k]);
    }
    store_pack(args.value + at, value);
    store_pack(args.m + at, m);
    store_pack(args.v + at, v);
    store_pack(args.gradient + at, Pack<float, M>{});
    if (args.options.amsgrad) store_pack(args.largest_v + at, largest);
    if constexpr (!std::is_same_v<T, float>)
      if (args.compute != nullptr) store_pack(args.compute + at, compute);
  });
}

struct SgdFactors {
  float rate, momentum, decay;
  float clip_norm;  // 0: no clipping
};

template <int N, bool Grouped, class T>
__global__ void __launch_bounds__(256) sgd(SgdArgs<Cuda<T>> args, SgdFactors by) {
  if (leave_out<N>(args)) return;
  const float clip = clip_factor(by.clip_norm, args.squares);
  for_each_pack<N>(args.count, [&]<int M>(Index at) {
    float rate = by.rate, decay = by.decay;
    if constexpr (Grouped) {  // a pack never crosses a parameter block
      const UpdateFactors<float> factors = args.factors[at / kParameterBlock];
      if (factors.rate == 0) return store_pack(args.gradient + at, Pack<float, M>{});
      rate *= factors.rate;
      decay = factors.weight_decay;
    }
    Pack<float, M> value = load_pack<M>(args.value + at), b{};
    const Pack<float, M> gradient = load_pack<M>(args.gradient + at);
    if (by.momentum > 0) b = load_pack<M>(args.momentum + at);
    Pack<T, M> compute;
    for (int k = 0; k < M; ++k) {
      const float g = gradient[k] * clip + decay * value[k];
      b.set(k, by.momentum * b[k] + g);  // without momentum it is g
      value.set(k, value[k] - rate * (args.options.nesterov ? g + by.momentum * b[k] : b[k]));
      compute.set(k, value[k]);
    }
    store_pack(args.value + at, value);
    store_pack(args.gradient + at, Pack<float, M>{});
    if (by.momentum > 0) store_pack(args.momentum + at, b);
    if constexpr (!std::is_same_v<T, float>)
      if (args.compute != nullptr) store_pack(args.compute + at, compute);
  });
}

template <int N>
__global__ void __launch_bounds__(256) moving_average(const float* value, float* average, Index count, float weight) {
  for_each_pack<N>(count, [&]<int M>(Index at) {
    const Pack<float, M> newest = load_pack<M>(value + at);
    Pack<float, M> mean = load_pack<M>(average + at);
    for (int k = 0; k < M; ++k) mean.set(k, mean[k] + weight * (newest[k] - mean[k]));
    store_pack(average + at, mean);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(256) exchange_average(ExchangeAverageArgs<Cuda<T>> args) {
  for_each_pack<N>(args.count, [&]<int M>(Index at) {
    const Pack<float, M> value = load_pack<M>(args.value + at), average = load_pack<M>(args.average + at);
    store_pack(args.value + at, average);
    store_pack(args.average + at, value);
    if constexpr (!std::is_same_v<T, float>) {
      Pack<T, M> compute;
      for (int k = 0; k < M; ++k) compute.set(k, average[k]);
      if (args.compute != nullptr) store_pack(args.compute + at, compute);
    }
  });
}

}  // namespace kernels

template <class T>
void sum_of_squares(Cuda<T>& device, const SumOfSquaresArgs<Cuda<T>>& args) {
  const auto blocks = static_cast<unsigned>(std::min<Index>(divide_up(args.count, 1024), 1024));
  float* parts = device.template workspace<float>(1024);
  with_packs<float>(in_packs(args.x, 0, 0), [&]<int N>() {
    launch(device, "sum_of_squares", {{blocks}, 256}, kernels::sums_of_squares<N>, args.x, args.count, parts);
  });
  sum_numbers(device, "sum_of_squares", false, parts, blocks, 1, args.total);
}

/// Calls run<N>(spread) with a launch of one thread per pack, of N elements if all arrays are aligned to packs, else 1.
template <class Run, class... T>
void with_flat_packs(Index count, const Run& run, const T*... arrays) {
  with_packs<float>((in_packs(arrays, 0, 0) && ...), [&]<int N>() {
    run.template operator()<N>(Spread{{static_cast<unsigned>(divide_up(count, 256 * N))}, 256});
  });
}

template <class T>
void adam(Cuda<T>& device, const AdamArgs<Cuda<T>>& args) {
  const AdamOptions& o = args.options;
  const bool decoupled = o.decay == AdamOptions::Decay::decoupled;
  const auto number = [](double x) { return static_cast<float>(x); };
  const auto steps = static_cast<double>(args.step);
  const kernels::AdamFactors by{.beta1 = number(o.beta1),
                                .rest1 = number(1 - o.beta1),
                                .beta2 = number(o.beta2),
                                .rest2 = number(1 - o.beta2),
                                .epsilon = number(o.epsilon),
                                .step = number(args.rate / (1 - std::pow(o.beta1, steps))),
                                .root = number(1 / std::sqrt(1 - std::pow(o.beta2, steps))),
                                .coupled = number(decoupled ? 0 : o.weight_decay),
                                .shrink = number(decoupled ? 1 - args.rate * o.weight_decay : 1),
                                .clip_norm = number(o.clip_norm),
                                .rate = number(args.rate),
                                .decoupled = decoupled};
  const auto run = [&]<int N>(Spread spread) {
    const auto kernel = args.factors == nullptr ? kernels::adam<N, false, T> : kernels::adam<N, true, T>;
    launch(device, "adam", spread, kernel, args, by);
  };
  with_flat_packs(args.count, run, args.value, args.gradient, args.m, args.v, args.largest_v, args.compute);
}

template <class T>
void sgd(Cuda<T>& device, const SgdArgs<Cuda<T>>& args) {
  const auto number = [](double x) { return static_cast<float>(x); };
  const kernels::SgdFactors by{.rate = number(args.rate),
                               .momentum = number(args.options.momentum),
                               .decay = number(args.options.weight_decay),
                               .clip_norm = number(args.options.clip_norm)};
  const auto run = [&]<int N>(Spread spread) {
    const auto kernel = args.factors == nullptr ? kernels::sgd<N, false, T> : kernels::sgd<N, true, T>;
    launch(device, "sgd", spread, kernel, args, by);
  };
  with_flat_packs(args.count, run, args.value, args.gradient, args.momentum, args.compute);
}

template <class T>
void moving_average(Cuda<T>& device, const MovingAverageArgs<Cuda<T>>& args) {
  const auto run = [&]<int N>(Spread spread) {
    launch(device, "moving_average", spread, kernels::moving_average<N>, args.value, args.average, args.count,
           static_cast<float>(1 - args.decay));
  };
  with_flat_packs(args.count, run, args.value, args.average);
}

template <class T>
void exchange_average(Cuda<T>& device, const ExchangeAverageArgs<Cuda<T>>& args) {
  const auto run = [&]<int N>(Spread spread) {
    launch(device, "exchange_average", spread, kernels::exchange_average<N, T>, args);
  };
  with_flat_packs(args.count, run, args.value, args.average, args.compute);
}

}  // namespace attn
