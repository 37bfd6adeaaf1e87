#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/types.hpp"
#include "attn/run/device_options.hpp"

/// The time of a forward pass, as inference.tsv has it.
struct InferenceTime {
  std::string whose;              // attn, PyTorch
  std::string kind;               // encoder, encoder-decoder
  attn::Index k = 0;              // of its Linformer; 0: a Transformer
  attn::Index n = 0, tokens = 0;  // of a sentence; of all, on either side
  double milliseconds = 0;
  std::string device;

  bool operator==(const InferenceTime&) const = default;
};

std::vector<InferenceTime> read_times(const std::filesystem::path& file);
void write_times(const std::filesystem::path& file, const std::vector<InferenceTime>& times);

/// What to measure: one model at several lengths.
struct InferenceWork {
  std::string kind;
  attn::Index k, tokens;
  std::vector<attn::Index> lengths;
  attn::Index repeats;
};

/// Times of a Transformer or Linformer of the paper's size, weights drawn at random, over random sentences: mean of the
/// repeats after two that are not counted. Of an encoder-decoder up to the decoder's hidden states, its target as long as
/// its source.
std::vector<InferenceTime> measure_on_cpu(const InferenceWork& work, const attn::DeviceOptions& device);
std::vector<InferenceTime> measure_on_gpu(const InferenceWork& work, const attn::DeviceOptions& device);
