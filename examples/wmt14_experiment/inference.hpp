#pragma once
#include <chrono>

#include "attn/models/text_encoder.hpp"
#include "attn/run/model_on.hpp"

/// The time of a forward pass: one row of inference.tsv.
struct InferenceTime {
  std::string whose;              // attn or PyTorch
  std::string kind;               // encoder or encoder-decoder
  attn::Index k = 0;              // k of the Linformer; 0: Transformer
  attn::Index n = 0, tokens = 0;  // tokens per sentence; tokens in the batch, per side
  double milliseconds = 0;
  std::string device;
};

/// A measurement: one model at several lengths.
struct InferenceWork {
  std::string kind;
  attn::Index k, tokens;
  std::vector<attn::Index> lengths;
  attn::Index repeats;
};

/// Forward-pass times of a Transformer or Linformer of the paper's size with random weights and sentences: mean of the
/// repeats after two warm-up passes. The encoder-decoder runs up to the decoder's hidden states, with targets as long as
/// the sources.
std::vector<InferenceTime> measure_on_cpu(const InferenceWork& work, const attn::DeviceOptions& device);
std::vector<InferenceTime> measure_on_gpu(const InferenceWork& work, const attn::DeviceOptions& device);

// Their implementation.

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
