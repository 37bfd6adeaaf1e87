// Times a data-parallel training step with one core per rank: mpirun -n 2 data_parallel [REPEATS]. Uses the Transformer of
// transformer_cpu.cpp; each rank has its own batches. Rank 0 prints one JSON line with the tokens of all ranks and the
// seconds of a step, its parts and the gradient sums, as scaling_model.py --check needs them.

#include <cstdlib>
#include <functional>

#include "attn/optim/adam.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/parallel/join_ranks.hpp"
#include "attn/transformer.hpp"
#include "run.hpp"

using namespace attn;

using Device = Cpu<float>;
using Model = Transformer<Device, TransformerShape{
                                      .encoder_layers = 3, .decoder_layers = 3, .width = 256, .heads = 4, .inner = 1024}>;

constexpr Index vocabulary = 8000, batches = 2;

int main(int count, char** words) {
  const int repeats = count > 1 ? std::atoi(words[1]) : 5;
  const auto processes = join_ranks();
  Device device(1);
  Network<Model> network(
      device, {.source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .dropout = {.residual = 0.1f}}, 1);

  std::vector<Batch> data;
  Random random(1);
  double tokens = 0;
  for (Index i = 0; i < batches; ++i) {
    const auto seed = static_cast<std::uint64_t>(2 * (i * processes->ranks() + processes->rank()));
    data.push_back({random_sentences(lengths(seed + 1, 32, 31), vocabulary, random),
                    random_sentences(lengths(seed + 2, 32, 59), vocabulary, random),
                    random_sentences(lengths(seed + 2, 32, 59), vocabulary, random)});
    tokens += static_cast<double>(data.back().source.tokens.size() + data.back().target_input.tokens.size()) / batches;
  }
  processes->sum(&tokens, 1);

  std::uint64_t step = 0;
  const auto compute = [&](const Batch& batch, std::function<void(GradientRange<float>)>* complete) {
    Tape<Device> tape(device, TapeMode::training(1, ++step));
    tape.on_complete = complete;
    network->loss(tape, batch).backward();
  };
  std::vector<GradientRange<float>> layers;
  std::function<void(GradientRange<float>)> note = [&](GradientRange<float> range) { layers.push_back(range); };
  compute(data[0], &note);

  const auto measure = [&](bool overlap) {
    DataParallel ranks(*processes, network, {.overlap = overlap});
    Adam adam(network, {.beta2 = 0.98, .epsilon = 1e-9}, ranks.share());
    ranks.plan(layers);
    std::function<void(GradientRange<float>)> complete = [&](GradientRange<float> range) { ranks.complete(range); };
    return median_seconds(repeats,
                          [&] {
                            processes->barrier();
                            for (const Batch& batch : data) {
                              compute(batch, processes->ranks() > 1 ? &complete : nullptr);
                              if (processes->ranks() > 1) ranks.finish();
                              adam.step(1e-4);
                            }
                          }) /
           batches;
  };
  Adam adam(network, {.beta2 = 0.98, .epsilon = 1e-9});
  const double update = median_seconds(repeats, [&] { adam.step(1e-4); });
  const auto sum_of = [&](Index numbers) {
    std::vector<float> all(static_cast<std::size_t>(numbers), 1);
    return median_seconds(4 * repeats, [&] {
      processes->begin_sum(SharedNumbers(all.data(), numbers));
      processes->wait();
    });
  };
  Json line{{"ranks", processes->ranks()},
            {"tokens", tokens},
            {"step", measure(true)},
            {"step_after", measure(false)},
            {"update", update},
            {"smallest_sum", sum_of(1)},
            {"sum", sum_of(network.parameters.size())}};
  Index rest = network.parameters.size();
  line["layers"] = Json::array();
  for (const GradientRange<float>& layer : layers) {
    line["layers"].push_back(layer.count * Index{sizeof(float)});
    rest -= layer.count;
  }
  line["rest"] = rest * Index{sizeof(float)};
  if (processes->leads()) Run::print(line);
}
