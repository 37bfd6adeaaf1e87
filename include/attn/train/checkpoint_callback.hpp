#pragma once
#include <cmath>
#include <filesystem>
#include <utility>

#include "attn/train/best_models.hpp"
#include "attn/train/callback.hpp"
#include "attn/train/checkpoint.hpp"

namespace attn {

/// CheckpointCallback checkpoints(folder, trainer): keeps a training safe in a folder, which it makes. model.safetensors is the best model
/// so far, training.safetensors all it takes to go on from the last validation, or from the end; of the best `keep` models each has
/// a file of its own (train/best_models.hpp). Of several ranks the first one writes. Values that are not finite end the training instead: what was saved before them
/// stays.
template <class Trainer>
class CheckpointCallback : public Callback {
 public:
  CheckpointCallback(std::filesystem::path folder, const Trainer& trainer, Metadata metadata = {}, Index keep = 0)
      : best(folder, keep, leads(trainer)), folder_(std::move(folder)), trainer_(trainer), metadata_(std::move(metadata)) {
    if (leads(trainer)) make_folder(folder_);
  }

  BestModels best;

  void on_step(const StepReport& report) override {
    require(report.bad_gradient.empty(), "step ", report.left_out.first, ": the gradient of '", report.bad_gradient,
            "' is not finite: nothing is learned from it", remedy());
    if (std::isfinite(report.loss) || report.left_out.count > 0) return;  // of a batch that was left out
    finite_weights();                                                     // names the parameter that is not
    fail("step ", report.step, ": the training loss is ", report.loss,
         ", though all parameters are finite: nothing is saved", remedy());
  }
  void on_validation(const ValidationReport& report) override {
    Weights weights = finite_weights();
    require(std::isfinite(report.loss), "step ", report.step, ": the validation loss is ", report.loss,
            ", though all parameters are finite: nothing is saved", remedy());
    if (report.best || best.wants(report.value)) {
      if (averages_weights(trainer_.optimiser)) {
        const WeightsToUse use(trainer_.optimiser);
        save_model_of(report, checkpoint::copy_of(trainer_.network.parameters));
      } else {
        save_model_of(report, weights);
      }
    }
    save(std::move(weights));
  }
  void on_end() override { save(finite_weights()); }

 private:
  using Weights = checkpoint::Tensors<typename Trainer::Device::Real>;

  static bool leads(const Trainer& trainer) {
    return trainer.ranks() == nullptr || trainer.ranks()->communicator().leads();
  }

  /// What is checked is what is saved: one copy from the device serves both.
  Weights finite_weights() const {
    Weights weights = checkpoint::copy_of(trainer_.network.parameters);
    const std::string bad = weights.first_not_finite();
    require(bad.empty(), "step ", trainer_.state.step, ": parameter '", bad, "' is no longer finite: nothing is saved",
            remedy());
    return weights;
  }
  void save_model_of(const ValidationReport& report, const Weights& weights) {
    const auto save_to = [&](const auto& path) { weights.save(path, metadata_); };
    if (report.best && leads(trainer_)) save_to(folder_ / "model.safetensors");
    if (best.wants(report.value)) best.add({report.step, report.value}, save_to);
  }
  void save(Weights weights) const {
    checkpoint::save_training(folder_ / "training.safetensors", std::move(weights), trainer_.network.parameters,
                              trainer_.optimiser, trainer_.state, metadata_, trainer_.ranks());
  }
  std::string remedy() const {
    const auto last = folder_ / "training.safetensors";
    return std::filesystem::exists(last)
               ? "; the last good checkpoint is " + last.string() + ": go on from there with a lower learning rate"
               : "; there is no earlier checkpoint: begin again with a lower learning rate";
  }

  std::filesystem::path folder_;
  const Trainer& trainer_;
  Metadata metadata_;
};

}  // namespace attn
