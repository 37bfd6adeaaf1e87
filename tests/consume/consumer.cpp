// What a user of the package writes first: a model as a type, one step of training, one translation.

#include <attn/decode/greedy.hpp>
#include <attn/optim/adam.hpp>
#include <attn/transformer.hpp>
#include <attn/version.hpp>
#include <iostream>
#ifdef __CUDACC__
#include <attn/cuda.cuh>
#endif

using namespace attn;

#ifdef __CUDACC__
using Device = Cuda<bfloat16>;
#else
using Device = Cpu<float>;
#endif
using Model =
    Transformer<Device, TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;

int main() {
  Device device;
  Network<Model> network(device, {.source_vocabulary = 20, .target_vocabulary = 20}, 1);
  Adam adam(network);
  const Sentences source{{5, 6, 7}, {8}}, target{{9}, {3, 4}};
  const Batch batch = Batch::of(source, target, {.begin = 0, .end = 1});
  double first = 0, last = 0;
  for (std::uint64_t step = 1; step <= 20; ++step) {
    Tape<Device> tape(device, TapeMode::training(1, step));
    auto loss = network->loss(tape, batch);
    loss.backward();
    last = loss.mean();
    adam.step(1e-2);
    if (step == 1) first = last;
  }
  const auto translations = greedy(device, *network, source, {.begin = 0, .end = 1, .limit = 10});
  std::cout << "attn " ATTN_VERSION ": loss " << first << " -> " << last << ", " << translations.size()
            << " translations\n";
  return last < first && translations.size() == 2 ? 0 : 1;
}
