#pragma once
#include <filesystem>
#include <utility>

#include "attn/train/callback.hpp"
#include "attn/train/checkpoint.hpp"

namespace attn {

/// Keeps a training safe in a folder: model.safetensors is the best model so far, training.safetensors all it takes to go
/// on from the last validation, or from the end.
template <class Device>
class CheckpointCallback : public Callback {
 public:
  CheckpointCallback(std::filesystem::path folder, const Parameters<Device>& parameters, Adam<Device>& adam,
                     const TrainState& state, Metadata metadata = {})
      : folder_(std::move(folder)), parameters_(parameters), adam_(adam), state_(state), metadata_(std::move(metadata)) {}

  void on_validation(const ValidationReport& report) override {
    if (report.best) save_model(folder_ / "model.safetensors", parameters_, metadata_);
    on_end();
  }
  void on_end() override { save_training(folder_ / "training.safetensors", parameters_, adam_, state_, metadata_); }

 private:
  std::filesystem::path folder_;
  const Parameters<Device>& parameters_;
  Adam<Device>& adam_;
  const TrainState& state_;
  Metadata metadata_;
};

}  // namespace attn
