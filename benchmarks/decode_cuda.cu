// GPU decoding benchmark: base Transformer, vocabulary of 50,272, sources of 31 tokens, 59 steps. Greedy and with a beam of
// 4, each with CUDA graphs and with steps launched by the host.
//
//   decode_cuda              the tables
//   decode_cuda BATCH BEAM   one batch, for a profiler, after a warm-up that selects plans; a beam of 1 is greedy decoding

#include <cuda_profiler_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/cuda.cuh"
#include "attn/decode/greedy.hpp"
#include "attn/decode/search.hpp"
#include "attn/models/transformer.hpp"

using namespace attn;

namespace {

using Device = Cuda<bfloat16>;
constexpr Index kVocabulary = 50'272, kSteps = 59, kSource = 31;

template <class Work>
double milliseconds(const Work& work) {
  double best = 1e30;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (i > 1) best = std::min(best, 1e3 * seconds);
  }
  return best;
}

/// `batch` sources of random tokens.
Sentences sources(Index batch) {
  Sentences source;
  Random random(3);
  for (Index i = 0; i < batch; ++i) {
    std::vector<Token> words;
    for (Index j = 0; j < kSource; ++j) words.push_back(static_cast<Token>(4 + random.below(kVocabulary - 4)));
    source.push_back(words);
  }
  return source;
}

const GreedyOptions kGreedy{.begin = 2, .end = -1, .limit = kSteps};

SearchOptions with_beam(Index beam) {
  SearchOptions options;
  options.begin = 2, options.end = -1, options.limit = kSteps, options.beam = beam;
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  Device device;
  Network<Transformer<Device, base_shape>> network(
      device,
      {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .share_embeddings = true, .tie_output = true},
      1);
  if (count == 3) {
    const Sentences source = sources(std::atoi(arguments[1]));
    const Index beam = std::atoi(arguments[2]);
    const auto decode = [&] {
      beam == 1 ? (void)greedy(device, *network, source, kGreedy)
                : (void)beam_search(device, *network, source, with_beam(beam));
    };
    decode();
    (void)cudaProfilerStart();
    decode();
    (void)cudaProfilerStop();
    return 0;
  }

  std::printf("greedy, base, vocabulary 50,272, %d steps: %s\n", static_cast<int>(kSteps), device.description().c_str());
  std::printf("%8s %14s %14s\n", "batch", "graphs, ms", "each step, ms");
  for (const Index batch : {1, 64, 512}) {
    const Sentences source = sources(batch);
    const auto never = [](Index, Index, Token) { return false; };
    std::vector<std::vector<Token>> a, b;
    const double held = milliseconds([&] { a = greedy(device, *network, source, kGreedy); });
    const double plain = milliseconds([&] { b = greedy(device, *network, source, kGreedy, never); });
    Index same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
    std::printf("%8d %14.2f %14.2f   %d of %d the same\n", static_cast<int>(batch), held, plain, static_cast<int>(same),
                static_cast<int>(batch));
  }
  std::printf("beam 4\n%8s %14s %14s %14s\n", "batch", "graphs, ms", "each step, ms", "tokens/s");
  for (const Index batch : {1, 32, 128}) {
    const Sentences source = sources(batch);
    const SearchOptions options = with_beam(4);
    std::vector<std::vector<Hypothesis>> a, b;
    const double held = milliseconds([&] { a = beam_search(device, *network, source, options); });
    const double plain = milliseconds([&] {
      ModelSteps steps(device, *network, source, options.limit, options.beam);
      b = beam_search(steps, options);
    });
    Index same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i][0].tokens == b[i][0].tokens ? 1 : 0;
    std::printf("%8d %14.2f %14.2f %14.0f   %d of %d the same\n", static_cast<int>(batch), held, plain,
                static_cast<double>(batch * kSteps) / held * 1e3, static_cast<int>(same), static_cast<int>(batch));
  }
}
