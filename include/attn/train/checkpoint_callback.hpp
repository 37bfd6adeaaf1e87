#pragma once
#include <cmath>
#include <filesystem>
#include <utility>

#include "attn/core/file.hpp"
#include "attn/train/best_models.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/checkpoint.hpp"

namespace attn {

/// Saves a training to a folder, which it creates: model.safetensors is the best model so far, training.safetensors the
/// state to resume from, written at each validation and at the end. Also keeps the best `keep` models
/// (train/best_models.hpp). With several ranks, the first one writes. Non-finite values end the training, and earlier files
/// stay.
template <class Device>
class CheckpointCallback : public Callback {
 public:
  CheckpointCallback(std::filesystem::path folder, const Trainer<Device>& trainer, Metadata metadata = {}, Index keep = 0)
      : best(folder, keep, leads(trainer)), folder_(std::move(folder)), trainer_(trainer), metadata_(std::move(metadata)) {
    if (leads(trainer)) make_folder(folder_);
  }

  BestModels best;

  void on_step(const StepReport& report) override {
    require(report.non_finite_gradient.empty(), "step ", report.left_out.first, ": the gradient of '",
            report.non_finite_gradient, "' is not finite", remedy());
    if (std::isfinite(report.loss) || report.left_out.count > 0) return;  // the loss of a skipped batch
    finite_weights();                                                     // names the non-finite parameter
    fail("step ", report.step, ": the training loss is ", report.loss,
         ", though all parameters are finite. Nothing was saved", remedy());
  }
  void on_validation(const ValidationReport& report) override {
    require(!saved_ || file_exists(folder_ / "training.safetensors"), "files of ", folder_.string(),
            " were removed during the training. Start again.");
    Weights weights = finite_weights();
    require(std::isfinite(report.loss), "step ", report.step, ": the validation loss is ", report.loss,
            ", though all parameters are finite. Nothing was saved", remedy());
    if (report.best || best.wants(report.value)) {
      if (trainer_.optimiser.averages_weights()) {
        const ScopedWeights use(trainer_.optimiser);
        save_model_of(report, checkpoint::copy_of(trainer_.parameters));
      } else {
        save_model_of(report, weights);
      }
    }
    save(std::move(weights));
  }
  void on_end() override { save(finite_weights()); }

 private:
  using Weights = checkpoint::Tensors<typename Device::Real>;

  static bool leads(const Trainer<Device>& trainer) {
    return trainer.ranks() == nullptr || trainer.ranks()->communicator().leads();
  }

  /// Checks and returns one host copy of the weights, so that the checked values are those saved.
  Weights finite_weights() const {
    Weights weights = checkpoint::copy_of(trainer_.parameters);
    const std::string bad = weights.first_not_finite();
    require(bad.empty(), "step ", trainer_.state.step, ": parameter '", bad, "' is no longer finite. Nothing was saved",
            remedy());
    return weights;
  }
  void save_model_of(const ValidationReport& report, const Weights& weights) {
    const auto save_to = [&](const auto& path) { weights.save(path, metadata_); };
    if (report.best && leads(trainer_)) save_to(folder_ / "model.safetensors");
    if (best.wants(report.value)) best.add({report.step, report.value}, save_to);
  }
  void save(Weights weights) {
    checkpoint::save_training(folder_ / "training.safetensors", std::move(weights), trainer_.parameters, trainer_.optimiser,
                              trainer_.state, metadata_, trainer_.ranks());
    saved_ = leads(trainer_);
  }
  std::string remedy() const {
    const auto last = folder_ / "training.safetensors";
    return file_exists(last)
               ? ". Continue from the last good checkpoint, " + last.string() + ", with a lower learning rate."
               : ". Start again with a lower learning rate.";
  }

  std::filesystem::path folder_;
  const Trainer<Device>& trainer_;
  Metadata metadata_;
  bool saved_ = false;
};

}  // namespace attn
