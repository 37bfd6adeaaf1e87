// CPU benchmark for attn: training steps and greedy decoding of a Transformer of width 256, 3+3 layers, 4 heads, inner
// 1024, vocabulary 8,000; in float and, if the processor supports it, with bf16 matrix products. Prints one JSON line per
// measurement, like benchmarks/pytorch_transformer.py, which runs the same workload.

#include <cstdio>
#include <cstdlib>

#include "attn/decode/greedy.hpp"
#include "attn/optim/adam.hpp"
#include "attn/transformer.hpp"
#include "workload.hpp"

using namespace attn;

using Device = Cpu<float>;
using Model = Transformer<Device, TransformerShape{
                                      .encoder_layers = 3, .decoder_layers = 3, .width = 256, .heads = 4, .inner = 1024}>;

constexpr Index vocabulary = 8000;

double training_step(Device& device, int batches, int repeats, double& tokens) {
  Model model({.source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .dropout = {.residual = 0.1f}});
  Parameters<Device> parameters(device, model, 1);
  Adam<Device> adam(parameters, {.beta2 = 0.98, .epsilon = 1e-9});
  Random random(1);
  std::vector<Batch> data;
  tokens = 0;
  for (int i = 0; i < batches; ++i) {
    const auto seed = static_cast<std::uint64_t>(2 * i);
    data.push_back({random_sentences(lengths(seed + 1, 32, 31), vocabulary, random),
                    random_sentences(lengths(seed + 2, 32, 59), vocabulary, random),
                    {}});
    data.back().target_output = random_sentences(lengths(seed + 2, 32, 59), vocabulary, random);
    tokens += static_cast<double>(data.back().source.tokens.size() + data.back().target_input.tokens.size()) / batches;
  }
  std::uint64_t step = 0;
  return median_seconds(repeats,
                        [&] {
                          for (const Batch& batch : data) {
                            Tape<Device> tape(device, TapeMode::training(1, ++step));
                            model.loss(tape, batch).backward();
                            adam.step(1e-4);
                          }
                        }) /
         batches;
}

double greedy_decoding(Device& device, int repeats, double& tokens) {
  Model model({.source_vocabulary = vocabulary, .target_vocabulary = vocabulary});
  Parameters<Device> parameters(device, model, 1);
  Random random(1);
  const Sentences source = random_sentences(lengths(1, 64, 31), vocabulary, random);
  const std::vector<Index> limits = lengths(2, 64, 59);  // weights are random, so every sentence has a given length
  const GreedyOptions options{.begin = 2, .end = 3, .limit = *std::max_element(limits.begin(), limits.end())};
  tokens = 0;
  for (const Index limit : limits) tokens += static_cast<double>(limit);
  return median_seconds(repeats, [&] {
    greedy(device, model, source, options,
           [&](Index sentence, Index length, Token) { return length + 1 >= limits[static_cast<std::size_t>(sentence)]; });
  });
}

int main(int count, char** words) {
  const int repeats = count > 1 ? std::atoi(words[1]) : 5, batches = count > 2 ? std::atoi(words[2]) : 4;
  for (const bool bfloat16_products : {false, true}) {
    if (bfloat16_products && !kHasBfloat16Products) continue;
    Device device({.bfloat16_products = bfloat16_products});
    const char* mode = bfloat16_products ? "attn bf16" : "attn";
    double tokens = 0;
    const auto print = [&](const char* name, double seconds) {
      std::printf("{\"name\": \"%s\", \"seconds\": %.6f, \"tokens\": %.1f, \"mode\": \"%s\"}\n", name, seconds, tokens,
                  mode);
      std::fflush(stdout);
    };
    const double step = training_step(device, batches, repeats, tokens);
    print("train_step", step);
    const double decoding = greedy_decoding(device, repeats, tokens);
    print("greedy", decoding);
  }
}
