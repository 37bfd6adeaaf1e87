#pragma once
#include <chrono>

#include "attn/core/network.hpp"
#include "attn/core/random.hpp"
#include "attn/models/text_encoder.hpp"
#include "attn/models/transformer.hpp"
#include "attn/run/model_on.hpp"
#include "attn/tape/embedding.hpp"
#include "inference.hpp"

// The implementation of measure_on_cpu and measure_on_gpu.

namespace inference {

inline constexpr attn::Index vocabulary = 50272;  // BART's vocabulary, padded
inline constexpr int longest = 16384;

inline attn::Sentences random_sentences(attn::Index count, attn::Index length) {
  attn::Random random(1);
  attn::Sentences sentences;
  std::vector<attn::Token> words(static_cast<std::size_t>(length));
  for (attn::Index i = 0; i < count; ++i) {
    for (attn::Token& word : words) word = static_cast<attn::Token>(4 + random.below(vocabulary - 4));
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
  for (const attn::Index n : work.lengths) {
    const attn::Sentences sentences = random_sentences(work.tokens / n, n);
    attn::Tape<Device> outer(device);
    const attn::Text text = upload(outer, sentences);
    const auto run = [&](attn::Index count) {
      for (attn::Index i = 0; i < count; ++i) {
        attn::Tape<Device> tape(device);
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
  if (work.kind == "encoder") {
    using Model = attn::TextEncoder<Device, attn::base_shape, Attention>;
    attn::Network<Model> network(device, {.vocabulary = vocabulary}, 1);
    return measure(work, device, [&](auto& tape, const attn::Text& text) { (*network)(tape, text); });
  }
  using Model = attn::Transformer<Device, attn::base_shape, Attention>;
  attn::Network<Model> network(
      device,
      {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .share_embeddings = true, .tie_output = true}, 1);
  return measure(work, device, [&](auto& tape, const attn::Text& text) { network->hidden(tape, text, text); });
}

template <class Device>
std::vector<InferenceTime> measure_on(const InferenceWork& work, const attn::DeviceOptions& options) {
  const auto device = attn::DeviceMaker<Device>::make(options);
  switch (work.k) {
    case 0:
      return measure_attention<Device, attn::Full<>>(work, *device);
    case 32:
      return measure_attention<Device, attn::Linformer<32, longest>>(work, *device);
    case 64:
      return measure_attention<Device, attn::Linformer<64, longest>>(work, *device);
    case 128:
      return measure_attention<Device, attn::Linformer<128, longest>>(work, *device);
    default:
      attn::fail("no Linformer with k = ", work.k, " is compiled. Use 32, 64 or 128.");
  }
}

}  // namespace inference
