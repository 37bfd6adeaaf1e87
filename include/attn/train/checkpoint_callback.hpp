#pragma once
#include <cmath>
#include <filesystem>
#include <utility>

#include "attn/train/callback.hpp"
#include "attn/train/checkpoint.hpp"
#include "attn/train/finite.hpp"

namespace attn {

/// Keeps a training safe in a folder: model.safetensors is the best model so far, training.safetensors all it takes to go
/// on from the last validation, or from the end. Numbers that are not finite end the training instead: what was saved
/// before them stays.
template <class Device>
class CheckpointCallback : public Callback {
 public:
  CheckpointCallback(std::filesystem::path folder, const Parameters<Device>& parameters, Adam<Device>& adam,
                     const TrainState& state, Metadata metadata = {})
      : folder_(std::move(folder)), parameters_(parameters), adam_(adam), state_(state), metadata_(std::move(metadata)) {}

  void on_validation(const ValidationReport& report) override {
    check_parameters();
    require(std::isfinite(report.loss), "step ", report.step, ": the validation loss is ", report.loss,
            ", though all parameters are finite: nothing is saved", remedy());
    if (report.best) save_model(folder_ / "model.safetensors", parameters_, metadata_);
    save();
  }
  void on_end() override {
    check_parameters();
    save();
  }

 private:
  void save() const { save_training(folder_ / "training.safetensors", parameters_, adam_, state_, metadata_); }
  void check_parameters() const {
    const std::string bad = first_not_finite(parameters_);
    require(bad.empty(), "step ", state_.step, ": parameter '", bad, "' is no longer finite: nothing is saved", remedy());
  }
  std::string remedy() const {
    const auto last = folder_ / "training.safetensors";
    return std::filesystem::exists(last)
               ? "; the last good checkpoint is " + last.string() + ": go on from there with a lower learning rate"
               : "; there is no earlier checkpoint: begin again with a lower learning rate";
  }

  std::filesystem::path folder_;
  const Parameters<Device>& parameters_;
  Adam<Device>& adam_;
  const TrainState& state_;
  Metadata metadata_;
};

}  // namespace attn
