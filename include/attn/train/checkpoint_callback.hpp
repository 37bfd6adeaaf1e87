#pragma once
#include <filesystem>
#include <utility>

#include "attn/train/callback.hpp"
#include "attn/train/checkpoint.hpp"

namespace attn {

/// CheckpointCallback checkpoints(folder, trainer): keeps a training safe in a folder: model.safetensors is the best model so far, training.safetensors all it takes to go
/// on from the last validation, or from the end.
template <class Trainer>
class CheckpointCallback : public Callback {
 public:
  CheckpointCallback(std::filesystem::path folder, const Trainer& trainer, Metadata metadata = {})
      : folder_(std::move(folder)), trainer_(trainer), metadata_(std::move(metadata)) {}

  void on_validation(const ValidationReport& report) override {
    if (report.best) save_model(folder_ / "model.safetensors", trainer_.network.parameters, metadata_);
    on_end();
  }
  void on_end() override {
    save_training(folder_ / "training.safetensors", trainer_.network.parameters, trainer_.optimiser, trainer_.state,
                  metadata_);
  }

 private:
  std::filesystem::path folder_;
  const Trainer& trainer_;
  Metadata metadata_;
};

}  // namespace attn
