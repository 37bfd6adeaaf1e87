#pragma once
#include "attn/core/network.hpp"
#include "attn/data/batches.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/train/callback.hpp"

namespace attn {

/// The loss of a batch under any network, so that the trainer and validation are compiled once for all models.
template <class Device>
class BatchLoss {
 public:
  template <class Model>
  BatchLoss(const Network<Model>& network)
      : share_of_step([&network](Tape<Device>& tape, const Batch& batch, const LossOptions& options, double share) {
          if constexpr (requires { network->loss(tape, batch, options); })
            return network->loss(tape, batch, options).scaled([=](const auto& term) {
              return term.labels > 0 ? 1 : share;
            });
          else
            return share * network->loss(tape, batch);
        }),
        loss_([&network](Tape<Device>& tape, const Batch& batch) { return network->loss(tape, batch); }) {
    static_assert(
        requires(const Model& model, Tape<Device>& tape, const Batch& batch) {
          { model.loss(tape, batch) } -> std::same_as<Loss<Device>>;
        },
        "attn: Trainer: a model needs  Loss<Device> loss(Tape<Device>& tape, const Batch& batch, LossOptions options = {}) "
        "const; the options may be left out");
  }

  Loss<Device> operator()(Tape<Device>& tape, const Batch& batch) const { return loss_(tape, batch); }

  /// The loss of one batch of a step. A cross-entropy that takes the options is divided by the labels or sentences of the
  /// whole step. Other terms are means over their batch, weighted by the batch's share of the step. So the gradients of
  /// several batches sum to that of one large batch.
  std::function<Loss<Device>(Tape<Device>&, const Batch&, const LossOptions&, double share)> share_of_step;

 private:
  std::function<Loss<Device>(Tape<Device>&, const Batch&)> loss_;
};

template <class Model>
BatchLoss(const Network<Model>&) -> BatchLoss<typename Model::DeviceType>;

}  // namespace attn
