#pragma once
#include "attn/tape/attention.hpp"
#include "attn/tape/embedding.hpp"
#include "gpu_transformer.cuh"

/// Random numbers in [-1, 1). Zeros would be unrealistically fast.
template <class Scalar>
__global__ void fill_random(Scalar* numbers, attn::Index count, attn::RandomKey key) {
  using attn::Index;
  for (Index i = blockIdx.x * Index{blockDim.x} + threadIdx.x; i < count; i += Index{gridDim.x} * blockDim.x)
    numbers[i] = attn::from_float<Scalar>(
        static_cast<float>(static_cast<std::int32_t>(attn::random_bits(key, static_cast<std::uint32_t>(i)))) * 0x1p-31f);
}

/// Attention alone, forward and backward, 8 heads of 64. Q, K and V are column slices of one matrix, as in a layer.
template <class Device>
void measure_attention(const std::string& name, const Run& run, Device& device, attn::Index sentences, attn::Index length,
                       bool causal) {
  using namespace attn;
  using Scalar = typename Device::Scalar;
  constexpr Index width = 512, heads = 8;
  Tape<Device> tape(device);
  std::vector<std::int32_t> offsets;
  for (Index i = 0; i <= sentences; ++i) offsets.push_back(static_cast<std::int32_t>(i * length));
  const Ragged all = upload_offsets(tape, offsets.data(), sentences);
  const auto random = [&](Index cols, std::uint32_t seed) {
    const Matrix<Scalar> numbers(tape.template array<Scalar>(all.rows * cols), all.rows, cols);
    launch(device, "random numbers", {{1024}, 256}, fill_random<Scalar>, numbers.data, all.rows * cols, RandomKey{seed, 7});
    return numbers;
  };
  const Matrix<Scalar> qkv = random(3 * width, 1), dqkv = random(3 * width, 2), y = random(width, 3), dy = random(width, 4);
  const AttentionArgs<Device> forward{.q = qkv.columns(0, width),
                                      .k = qkv.columns(width, width),
                                      .v = qkv.columns(2 * width, width),
                                      .queries = all,
                                      .keys = all,
                                      .heads = heads,
                                      .scale = 1 / std::sqrt(64.0),
                                      .causal = causal,
                                      .y = y,
                                      .lse = tape.template array<float>(all.rows * heads)};
  const AttentionGradientArgs<Device> backward{.forward = forward,
                                               .dy = dy,
                                               .dq = {dqkv.columns(0, width)},
                                               .dk = {dqkv.columns(width, width)},
                                               .dv = {dqkv.columns(2 * width, width)}};
  const auto there = [&] { attention(device, forward); };
  const auto there_and_back = [&] {
    attention(device, forward);
    attention_gradient(device, backward);
  };
  if (run.profile) return there_and_back(), run_profiled(device, [&](std::size_t) { there_and_back(); });

  StreamClock clock(device.stream());
  const int repeats = run.repeats(20);
  const double launched = clock.median_seconds(3, [&] {
    for (int i = 0; i < 20; ++i) there_and_back();
  });
  const Graph graph(device, there), whole(device, there_and_back);
  const double ahead = clock.median_seconds(repeats, [&] { graph.replay(); });
  const double seconds = clock.median_seconds(repeats, [&] { whole.replay(); });
  const auto n = static_cast<double>(length);
  const double flop = 4.0 * width * static_cast<double>(sentences) * (causal ? n * (n + 1) / 2 : n * n);
  Run::print({{"name", name},
              {"mode", "attn"},
              {"seconds", seconds},
              {"forward_seconds", ahead},
              {"launched_seconds", launched / 20},
              {"tflops", 3 * flop / seconds * 1e-12},
              {"forward_tflops", flop / ahead * 1e-12},
              {"kernels", whole.count(cudaGraphNodeTypeKernel)}});
}
