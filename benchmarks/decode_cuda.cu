// Greedy decoding on a GPU: a base Transformer, vocabulary of 50,272, sources of 31 tokens, 59 steps, with steps that are graphs and
// with steps of which the host makes each.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/cuda.cuh"
#include "attn/decode/greedy.hpp"
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

}  // namespace

int main() {
  Device device;
  Network<Transformer<Device, base_shape>> network(
      device,
      {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .share_embeddings = true, .tie_output = true},
      1);
  std::printf("greedy, base, vocabulary 50,272, %d steps: %s\n", static_cast<int>(kSteps), device.description().c_str());
  std::printf("%8s %14s %14s\n", "batch", "graphs, ms", "each step, ms");
  for (const Index batch : {1, 64, 512}) {
    Sentences source;
    Random random(3);
    for (Index i = 0; i < batch; ++i) {
      std::vector<Token> words;
      for (Index j = 0; j < kSource; ++j) words.push_back(static_cast<Token>(4 + random.below(kVocabulary - 4)));
      source.push_back(words);
    }
    const GreedyOptions options{.begin = 2, .end = -1, .limit = kSteps};
    const auto never = [](Index, Index, Token) { return false; };
    std::vector<std::vector<Token>> a, b;
    const double held = milliseconds([&] { a = greedy(device, *network, source, options); });
    const double plain = milliseconds([&] { b = greedy(device, *network, source, options, never); });
    Index same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
    std::printf("%8d %14.2f %14.2f   %d of %d the same\n", static_cast<int>(batch), held, plain, static_cast<int>(same),
                static_cast<int>(batch));
  }
}
