#pragma once
#include <vector>

#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"
#include "train/copying.hpp"

// A training of seconds: a small Transformer learns to copy.

namespace small_training {

using namespace attn;

using Device = Cpu<float>;
using Model =
    Transformer<Device, TransformerShape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32}>;

inline constexpr SpecialTokens special_tokens{2, 3, Token{3}};

/// A training that can be stopped and resumed, with everything that could break its bits: dropout, pools, accumulation,
/// clipping.
struct Run {
  Device device{2};
  ParallelCorpus text = copying(60, 1), held_out = copying(12, 2);
  Network<Model> network{device, {.source_vocabulary = 12, .target_vocabulary = 12, .dropout = {0.1f, 0.1f, 0.1f}}, 7};
  Parameters<Device>& parameters = network.parameters;
  Adam<Device> adam{network, {.clip_norm = 1}};
  Batches training{text, special_tokens, {.size = 8, .order = BatchOrder::pooled, .seed = 5}};
  Batches validation{held_out, special_tokens, {.size = 8, .order = BatchOrder::sequential}};
  Index stop_at = 1'000'000;
  Trainer<Device> trainer{network, adam, InverseSquareRoot{16, 20, 0.5}, options()};

  TrainOptions options() {
    TrainOptions options{.epochs = 4, .accumulate = 2, .loss = {.amount = 0.1f}, .seed = 3, .report_every = 1};
    options.stop = [this] { return trainer.state.step >= stop_at; };
    return options;
  }
  std::vector<float> numbers() const { return {parameters.values(), parameters.values() + parameters.size()}; }
};

struct Recorder : Callback {
  std::vector<StepReport> steps;
  std::vector<ValidationReport> validations;
  int ends = 0;
  void on_step(const StepReport& report) override { steps.push_back(report); }
  void on_validation(const ValidationReport& report) override { validations.push_back(report); }
  void on_end() override { ++ends; }
};

}  // namespace small_training
