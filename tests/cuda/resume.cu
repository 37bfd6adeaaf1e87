#include <doctest/doctest.h>

#include "attn/core/network.hpp"
#include "attn/cuda.cuh"
#include "attn/models/transformer.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/checkpoint.hpp"
#include "attn/train/trainer.hpp"
#include "cuda/devices.hpp"
#include "support/files.hpp"
#include "train/copying.hpp"

using namespace attn;

namespace {

using Device = Cuda<bfloat16>;
using Model =
    Transformer<Device, TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 32, .heads = 2, .inner = 64}>;

/// A training with everything that could break its bits: dropout, pooled batches, accumulation, clipping.
struct Run {
  Device device;
  ParallelCorpus text = small_training::copying(60, 1);
  Network<Model> network{
      device, TransformerOptions{.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0.1f, 0.1f, 0.1f}}, 7};
  Adam<Device> adam{network, AdamOptions{.clip_norm = 1}};
  Batches batches{text, SpecialTokens{2, 3, Token{3}}, BatchOptions{.size = 8, .order = BatchOrder::pooled, .seed = 5}};
  Batches validation{text, SpecialTokens{2, 3, Token{3}}, BatchOptions{.size = 8}};
  Index stop_at = 1'000'000;
  Trainer<Device> trainer{network, adam, InverseSquareRoot{16, 20, 0.5}, options()};

  TrainOptions options() {
    TrainOptions options{.epochs = 4, .accumulate = 2, .seed = 3, .report_every = 1};
    options.stop = [this] { return trainer.state.step >= stop_at; };
    return options;
  }
  std::vector<float> numbers() const {
    std::vector<float> all;
    for (const auto& entry : network.parameters.entries())
      for (const auto number : network.parameters.read(entry)) all.push_back(number);
    return all;
  }
};

}  // namespace

TEST_CASE("resume: a GPU training stopped in the middle of an epoch and resumed gives the same bits") {
  if (!is_here<CudaBfloat16>()) return;
  const TemporaryFolder folder;
  const auto path = folder / "training.safetensors";
  Run whole;
  whole.trainer.run(whole.batches, whole.validation);
  CHECK(whole.trainer.state.step == 16);
  CHECK(whole.numbers() != Run().numbers());
  for (Index stop = 1; stop < 16; stop += 3) {  // an epoch has four steps
    CAPTURE(stop);
    Run first;
    first.stop_at = stop;
    first.trainer.run(first.batches, first.validation);
    CHECK(first.trainer.state.step == stop);
    save_training(path, first.network.parameters, first.adam, first.trainer.state);

    Run second;
    second.trainer.state = load_training(SafetensorsFile(path), second.network.parameters, second.adam);
    CHECK(second.numbers() == first.numbers());
    second.trainer.run(second.batches, second.validation);
    CHECK(second.trainer.state.step == 16);
    CHECK(second.numbers() == whole.numbers());
  }
}
