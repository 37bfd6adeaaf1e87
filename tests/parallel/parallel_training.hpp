#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attn/optim/adam.hpp"
#include "attn/optim/averaged.hpp"
#include "attn/parallel/data_parallel.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"
#include "train/small_training.hpp"

// A training in double that several ranks can share.

namespace parallel_training {

using namespace attn;
using small_training::copying, small_training::special_tokens;

using Device = Cpu<double>;
using Model =
    Transformer<Device, TransformerShape{.encoder_layers = 2, .decoder_layers = 2, .width = 16, .heads = 2, .inner = 32}>;

/// A training of one rank, with all that ranks could do differently: dropout, clipping, accumulation, ragged batches, a short
/// last group, a table that embeddings and output share.
struct Run {
  Communicator alone;
  Device device{1};
  ParallelCorpus text, held_out = copying(13, 2);
  Network<Model> network{device,
                         {.source_vocabulary = 12,
                          .target_vocabulary = 12,
                          .dropout = {0.1f, 0.1f, 0.1f},
                          .share_embeddings = true,
                          .tie_output = true},
                         7};
  DataParallel<Device> ranks;
  Adam<Device> adam;
  Averaged<Device> optimiser;
  Batches training, validation;
  TrainOptions options;
  Trainer<Device> trainer;

  Run(Communicator& communicator, Index accumulate, bool shard = false, Index pairs = 75, Index epochs = 2,
      bool overlap = true)
      : text(copying(pairs, 1)),
        ranks(communicator, network, {.shard_optimiser = shard, .overlap = overlap}),
        adam(network, {.epsilon = 1e-4, .clip_norm = 0.5}, ranks.share()),  // a gradient near 0 must not be all rounding
        optimiser(network, adam, 0.9),
        training(text, special_tokens, {.size = 8, .order = BatchOrder::pooled, .seed = 5}),
        validation(held_out, special_tokens, {.size = 3, .order = BatchOrder::sequential}),
        options{.epochs = epochs, .accumulate = accumulate, .loss = {.amount = 0.1f}, .seed = 3, .report_every = 1},
        trainer(network, optimiser, InverseSquareRoot{16, 20, 0.5}, options, &ranks) {}
  explicit Run(Index accumulate, Index pairs = 75, Index epochs = 2) : Run(alone, accumulate, false, pairs, epochs) {}

  std::vector<double> numbers() const {
    return {network.parameters.values(), network.parameters.values() + network.parameters.size()};
  }
};

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

struct Result {
  std::vector<double> numbers;
  std::vector<StepReport> steps;
  std::vector<ValidationReport> validations;
};

inline Result train(Run& run) {
  small_training::Recorder recorder;
  run.trainer.run(run.training, run.validation, {&recorder});
  return {run.numbers(), recorder.steps, recorder.validations};
}

}  // namespace parallel_training
