#include "models.hpp"
#include "run.hpp"

using namespace attn;

void run_linformer32_small(const Options& options, const Corpus& corpus) {
  train_and_translate<Cpu<float>, Transformer<Cpu<float>, small_shape, Linformer<32>>>(options, corpus);
}

void run_linformer32_base(const Options& options, const Corpus& corpus) {
  train_and_translate<Cpu<float>, Transformer<Cpu<float>, base_shape, Linformer<32>>>(options, corpus);
}
