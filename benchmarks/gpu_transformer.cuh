#pragma once
#include "attn/transformer.hpp"
#include "gpu_training.cuh"

using Device = attn::Cuda<attn::bfloat16>;  // of all measurements of transformer_cuda

inline constexpr attn::Index vocabulary = 50272;

/// Measures training steps of a Transformer. k > 0: Linformer encoder and cross-attention with projected length k; 0: full
/// attention.
template <class Model>
void measure_transformer(const std::string& name, const Run& run, const std::vector<attn::Batch>& data, double k = 0) {
  const attn::TransformerOptions options{
      .source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .share_embeddings = true};
  measure_training<Device, Model>(
      name, "attn", run, data, options, {.beta2 = 0.98, .weight_decay = 0.01},
      [&](const auto&, const attn::Batch& batch) { return training_flop(batch, {.vocabulary = vocabulary, .k = k}); });
}
