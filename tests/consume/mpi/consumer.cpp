// Started by mpirun, ranks train one model together: each prints what all of them have.

#include <attn/optim/adam.hpp>
#include <attn/parallel/data_parallel.hpp>
#include <attn/parallel/join_ranks.hpp>
#include <attn/transformer.hpp>
#include <iostream>

using namespace attn;

using Model = Transformer<Cpu<float>,
                          TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;

int main() {
  const auto processes = join_ranks();
  Cpu<float> device(1);
  Network<Model> network(device, {.source_vocabulary = 20, .target_vocabulary = 20}, 1);
  DataParallel ranks(*processes, network);
  Adam adam(network, {}, ranks.share());
  const Token mine = static_cast<Token>(4 + processes->rank());
  const Batch batch = Batch::of(Sentences{{mine, 7}}, Sentences{{9, mine}}, {.begin = 0, .end = 1});
  for (std::uint64_t step = 1; step <= 5; ++step) {
    Tape<Cpu<float>> tape(device, TapeMode::training(1, step));
    network->loss(tape, batch).backward();
    ranks.finish();
    adam.step(1e-2);
  }
  double sum = 0, all = 0;
  for (Index i = 0; i < network.parameters.size(); ++i) sum += static_cast<double>(network.parameters.values()[i]);
  all = sum;
  processes->sum(&all, 1);
  const bool same = all == sum * static_cast<double>(processes->ranks());
  if (processes->leads())
    std::cout << processes->ranks() << " ranks, " << (same ? "the same" : "different") << " weights\n";
  return same ? 0 : 1;
}
