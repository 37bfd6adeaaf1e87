#pragma once
#include <chrono>

#include "attn/models/text_encoder.hpp"
#include "attn/run/model_on.hpp"
#include "inference.hpp"

// The implementation of measure_on_cpu and measure_on_gpu.

namespace inference {

using namespace attn;

inline constexpr Index vocabulary = 50272;  // BART's vocabulary, padded
inline constexpr int longest = 16384;

inline Sentences random_sentences(Index count, Index length) {
  Random random(1);
  Sentences sentences;
  std::vector<Token> words(static_cast<std::size_t>(length));
  for (Index i = 0; i < count; ++i) {
    for (Token& word : words) word = static_cast<Token>(4 + random.below(vocabulary - 4));
    sentences.push_back(words);
  }
  return sentences;
}

template <class Device>
void wait_for(Device& device) {
  if constexpr (requires { device.synchronize(); }) device.synchronize();
}

/// Times `pass(tape, text)` on texts of each length.
template <class Device, class Pass>
std::vector<InferenceTime> measure(const InferenceWork& work, Device& device, const Pass& pass) {
  using Clock = std::chrono::steady_clock;
  std::vector<InferenceTime> times;
  for (const Index n : work.lengths) {
    const Sentences sentences = random_sentences(work.tokens / n, n);
    Tape<Device> outer(device);
    const Text text = upload(outer, sentences);
    const auto run = [&](Index count) {
      for (Index i = 0; i < count; ++i) {
        Tape<Device> tape(device);
        pass(tape, text);
      }
      wait_for(device);
    };
    run(2);
    const auto start = Clock::now();
    run(work.repeats);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    times.push_back({"attn", work.kind, work.k, n, work.tokens, 1e3 * seconds / static_cast<double>(work.repeats),
                     device.description()});
  }
  return times;
}

template <class Device, class Attention>
std::vector<InferenceTime> measure_attention(const InferenceWork& work, Device& device) {
  TransformerShape shape = base_shape;
  shape.linformer_k = static_cast<int>(work.k), shape.linformer_n = longest;
  if (work.kind == "encoder") {
    Network<TextEncoder<Device, dynamic_shape, Attention>> network(device, {.vocabulary = vocabulary, .shape = shape}, 1);
    return measure(work, device, [&](auto& tape, const Text& text) { (*network)(tape, text); });
  }
  Network<Transformer<Device, dynamic_shape, Attention>> network(device,
                                                                 {.source_vocabulary = vocabulary,
                                                                  .target_vocabulary = vocabulary,
                                                                  .share_embeddings = true,
                                                                  .tie_output = true,
                                                                  .shape = shape},
                                                                 1);
  return measure(work, device, [&](auto& tape, const Text& text) { network->hidden(tape, text, text); });
}

template <class Device>
std::vector<InferenceTime> measure_on(const InferenceWork& work, const DeviceOptions& options) {
  const auto device = DeviceMaker<Device>::make(options);
  return work.k == 0 ? measure_attention<Device, Full<>>(work, *device)
                     : measure_attention<Device, Linformer<>>(work, *device);
}

}  // namespace inference
