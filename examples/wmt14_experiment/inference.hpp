#pragma once
#include "attn/core/types.hpp"
#include "attn/run/device_options.hpp"

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
