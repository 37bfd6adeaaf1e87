// CPU decoding benchmark for attn: greedy decoding and beam search with a Transformer base (width 512, 6 + 6 layers, 8
// heads, inner 2048, vocabulary 32,000) with random weights. 59 steps per sentence, several batch sizes, every precision
// with processor support. Prints one JSON line per measurement. benchmarks/versus_ctranslate2.py runs the same workload
// with CTranslate2.
//
//     decode_cpu [--runs 3] [--batches 1,8,32,64] [--beams 1,4] [--modes float,bf16,int8] [--threads 0]

#include <cstdio>
#include <ctime>
#include <sstream>
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

struct Settings {
  int runs = 3, threads = 0;
  std::vector<Index> batches{1, 8, 32, 64}, beams{1, 4};
  std::vector<std::string> modes{"float", "bf16", "int8"};

  Settings(int count, char** words) {
    for (int i = 1; i + 1 < count; i += 2) {
      const std::string name = words[i];
      std::istringstream parts(words[i + 1]);
      const auto numbers = [&](std::vector<Index>& list) {
        list.clear();
        for (std::string part; std::getline(parts, part, ',');) list.push_back(std::stol(part));
      };
      if (name == "--runs") {
        parts >> runs;
      } else if (name == "--threads") {
        parts >> threads;
      } else if (name == "--batches") {
        numbers(batches);
      } else if (name == "--beams") {
        numbers(beams);
      } else if (name == "--modes") {
        modes.clear();
        for (std::string part; std::getline(parts, part, ',');) modes.push_back(part);
      } else {
        fail(name, " is not an option. Options: --runs --threads --batches --beams --modes");
      }
    }
  }
};

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
  const Settings settings(count, words);
  for (const std::string& mode : settings.modes) {
    if (mode == "bf16" && !kHasBfloat16Products) continue;
    Device device({.threads = settings.threads, .bfloat16_products = mode == "bf16", .int8_weights = mode == "int8"});
    Network<Model> network(device, {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary}, Inference{});
    draw_weights(network);
    for (const Index beam : settings.beams)
      for (const Index batch : settings.batches) {
        const Seconds seconds = decode_seconds(device, *network, batch, beam, settings.runs);
        std::printf("{\"mode\": \"%s\", \"beam\": %ld, \"batch\": %ld, \"seconds\": %.6f, \"core_seconds\": %.6f}\n",
                    mode.c_str(), static_cast<long>(beam), static_cast<long>(batch), seconds.wall, seconds.cores);
        std::fflush(stdout);
      }
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "decode_cpu: %s\n", error.what());
  return 1;
}
