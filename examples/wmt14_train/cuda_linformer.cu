#include "models.hpp"
#include "on_gpu.cuh"
#include "run.hpp"

void cuda_linformer32(const Options& options, const Corpus& corpus) {
  on_gpu(options, options.output, [&](auto& device) { run<attn::Linformer<32>>(device, options, corpus); });
}

void cuda_linformer64(const Options& options, const Corpus& corpus) {
  on_gpu(options, options.output, [&](auto& device) { run<attn::Linformer<64>>(device, options, corpus); });
}
