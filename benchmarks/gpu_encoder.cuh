#pragma once
#include "attn/core/parameters.hpp"
#include "attn/models/text_encoder.hpp"
#include "gpu_transformer.cuh"

/// An encoder's forward pass over 65,536 tokens in sentences of equal length, embedding included; text that is there already.
template <class Encoder>
void measure_encoder(const std::string& name, const Run& run, Device& device, const Encoder& encoder, attn::Index length,
                     double k) {
  using namespace attn;
  constexpr Index tokens = 65536;
  Random random(1);
  const std::vector<Index> sizes(static_cast<std::size_t>(tokens / length), length);
  const Sentences sentences = random_sentences(sizes, vocabulary, random);
  Tape<Device> outer(device);
  const Text text = upload(outer, sentences);
  const auto encode = [&] {
    Tape<Device> tape(device);
    encoder(tape, text);
  };
  encode();
  if (run.profile) return run_profiled(device, [&](std::size_t) { encode(); });

  StreamClock clock(device.stream());
  const double seconds = clock.median_seconds(run.repeats(10), encode);
  const double flop = encoder_flop(sentences, {.vocabulary = vocabulary, .k = k});
  const Graph graph(device, encode);
  const double replayed = clock.median_seconds(run.repeats(10), [&] { graph.replay(); });
  Run::print({{"name", name},
              {"mode", "attn"},
              {"seconds", seconds},
              {"tokens", tokens},
              {"graph_seconds", replayed},
              {"kernels", graph.count(cudaGraphNodeTypeKernel)},
              {"flop", flop},
              {"tflops", flop / seconds * 1e-12}});
}

/// One encoder at three lengths: its weights serve them all. `k` of its Linformer, or 0.
template <class Attention>
void measure_encoders(Run& run, const std::string& suffix, double k) {
  const auto name = [&](attn::Index length) { return "encoder " + std::to_string(length) + suffix; };
  const auto sizes = {attn::Index{128}, attn::Index{1024}, attn::Index{16384}};
  if (std::none_of(sizes.begin(), sizes.end(), [&](attn::Index length) { return run.wants(name(length)); })) return;
  Device device;
  attn::TextEncoder<Device, attn::base_shape, Attention> encoder(vocabulary);
  attn::Parameters<Device> parameters(device, encoder, 1);
  for (const attn::Index length : sizes)
    run(name(length), [&](const std::string& of) { measure_encoder(of, run, device, encoder, length, k); });
}
