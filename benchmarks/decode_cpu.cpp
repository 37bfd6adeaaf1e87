// CPU decoding benchmark for attn: greedy decoding and beam search with a Transformer base (width 512, 6 + 6 layers, 8
// heads, inner 2048, vocabulary 32,000) with random weights. 59 steps per sentence, several batch sizes, every precision
// with processor support. Prints one JSON line per measurement. benchmarks/versus_ctranslate2.py runs the same workload
// with CTranslate2.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <string>

#include "attn/decode/greedy.hpp"
#include "attn/decode/search.hpp"
#include "attn/transformer.hpp"
#include "draw_weights.hpp"
#include "workload.hpp"

using namespace attn;

namespace {

using Device = Cpu<float>;
using Model = Transformer<Device>;

constexpr Index vocabulary = 32000, steps = 59;

/// The minimum of several runs: wall-clock time, and the processor time of all cores, which other programs disturb less.
struct Seconds {
  double wall = 1e9, cores = 1e9;
};

double cores_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Seconds decode_seconds(Device& device, const Model& model, Index batch, Index beam, int runs) {
  Random random(1);
  const std::vector<Index> of = batch == 1 ? std::vector<Index>{31} : lengths(1, static_cast<int>(batch), 31);
  const Sentences source = random_sentences(of, vocabulary, random);
  Seconds best;
  for (int run = 0; run <= runs; ++run) {
    const double before = cores_now();
    const double seconds = host_seconds([&] {
      if (beam == 1)
        greedy(device, model, source, {.begin = 2, .end = -1, .limit = steps});
      else
        beam_search(device, model, source, {.begin = 2, .end = 3, .limit = steps, .beam = beam, .min_length = steps});
    });
    if (run > 0) best = {std::min(best.wall, seconds), std::min(best.cores, cores_now() - before)};
  }
  return best;
}

}  // namespace

int main(int count, char** words) try {
  int runs = 3, threads = 0;
  std::vector<Index> batches{1, 8, 32, 64}, beams{1, 4};
  std::vector<std::string> modes{"float", "bf16", "int8"};
  CLI::App app("Times greedy decoding and beam search on the CPU. Prints one JSON line per measurement.", "decode_cpu");
  app.add_option("--runs", runs, "Runs per measurement; the fastest counts")->capture_default_str();
  app.add_option("--batches", batches, "Sentences per batch")->delimiter(',')->capture_default_str();
  app.add_option("--beams", beams, "Beam sizes; 1: greedy")->delimiter(',')->capture_default_str();
  app.add_option("--modes", modes, "float, bf16, int8")->delimiter(',')->capture_default_str();
  app.add_option("--threads", threads, "Threads; 0: one per core")->capture_default_str();
  CLI11_PARSE(app, count, words);
  for (const std::string& mode : modes) {
    if (mode == "bf16" && !kHasBfloat16Products) continue;
    Device device({.threads = threads, .bfloat16_products = mode == "bf16", .int8_weights = mode == "int8"});
    Network<Model> network(device, {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary}, Inference{});
    draw_weights(network);
    for (const Index beam : beams)
      for (const Index batch : batches) {
        const Seconds seconds = decode_seconds(device, *network, batch, beam, runs);
        std::printf("{\"mode\": \"%s\", \"beam\": %ld, \"batch\": %ld, \"seconds\": %.6f, \"core_seconds\": %.6f}\n",
                    mode.c_str(), static_cast<long>(beam), static_cast<long>(batch), seconds.wall, seconds.cores);
        std::fflush(stdout);
      }
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "decode_cpu: %s\n", error.what());
  return 1;
}
