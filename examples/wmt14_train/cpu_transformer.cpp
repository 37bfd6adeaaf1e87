#include "models.hpp"
#include "run.hpp"

using namespace attn;

void run_transformer_small(const Options& options, const Corpus& corpus) {
  train_and_translate<Cpu<float>, Transformer<Cpu<float>, small_shape, Full<>>>(options, corpus);
}

void run_transformer_base(const Options& options, const Corpus& corpus) {
  train_and_translate<Cpu<float>, Transformer<Cpu<float>, base_shape, Full<>>>(options, corpus);
}
