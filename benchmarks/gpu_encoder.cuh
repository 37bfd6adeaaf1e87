#pragma once
#include "attn/core/parameters.hpp"
#include "attn/models/text_encoder.hpp"
#include "gpu_transformer.cuh"

/// 65,536 tokens in sentences of equal length, the same text on the device once uploaded, and the name of the measurement.
struct EncoderWork {
  std::string name;
  attn::Sentences sentences;
  attn::Text text;

  static attn::Sentences of_length(attn::Index length) {
    attn::Random random(1);
    return random_sentences(std::vector<attn::Index>(static_cast<std::size_t>(65536 / length), length), vocabulary, random);
  }
};

/// Measures an encoder's forward passes, embedding included, on several inputs in turn. `k` is the Linformer's k, or 0.
template <class Encoder>
void measure_encoder(const Run& run, Device& device, const Encoder& encoder, const std::vector<EncoderWork>& works,
                     double k) {
  using namespace attn;
  std::vector<std::function<void()>> passes, replays;
  for (const EncoderWork& work : works)
    passes.push_back([&] {
      Tape<Device> tape(device);
      encoder(tape, work.text);
    });
  for (const auto& encode : passes) {
    encode();
    if (run.profile) run_profiled(device, [&](std::size_t) { encode(); });
  }
  if (run.profile) return;

  StreamClock clock(device.stream());
  const std::vector<double> seconds = clock.medians_in_turn(run.repeats(10), passes);
  std::vector<Graph> graphs;
  for (const auto& encode : passes) graphs.emplace_back(device, encode);
  for (const Graph& graph : graphs) replays.push_back([&] { graph.replay(); });
  const std::vector<double> replayed = clock.medians_in_turn(run.repeats(10), replays);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const double flop = encoder_flop(works[i].sentences, {.vocabulary = vocabulary, .k = k});
    Run::print({{"name", works[i].name},
                {"mode", "attn"},
                {"seconds", seconds[i]},
                {"tokens", works[i].sentences.tokens.size()},
                {"graph_seconds", replayed[i]},
                {"kernels", graphs[i].count(cudaGraphNodeTypeKernel)},
                {"flop", flop},
                {"tflops", flop / seconds[i] * 1e-12}});
  }
}

/// Measures one encoder at the requested lengths. All lengths share its weights.
template <class Attention>
void measure_encoders(Run& run, const std::string& suffix, double k) {
  std::vector<EncoderWork> works;
  for (const attn::Index length : {128, 1024, 16384})
    if (const std::string name = "encoder " + std::to_string(length) + suffix; run.wants(name))
      works.push_back({name, EncoderWork::of_length(length), {}});
  if (works.empty()) return;
  run(works[0].name, [&](const std::string&) {
    Device device;
    attn::TextEncoder<Device, attn::base_shape, Attention> encoder({.vocabulary = vocabulary});
    attn::Parameters<Device> parameters(device, encoder, 1);
    attn::Tape<Device> outer(device);
    for (EncoderWork& work : works) work.text = upload(outer, work.sentences);
    measure_encoder(run, device, encoder, works, k);
  });
}
