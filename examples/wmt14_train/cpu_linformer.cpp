#include "models.hpp"
#include "on_cpu.hpp"
#include "run.hpp"

void cpu_linformer32(const Options& options, const Corpus& corpus) {
  attn::Cpu<float> device(on_cpu(options));
  run<attn::Linformer<32>>(device, options, corpus);
}

void cpu_linformer64(const Options& options, const Corpus& corpus) {
  attn::Cpu<float> device(on_cpu(options));
  run<attn::Linformer<64>>(device, options, corpus);
}
