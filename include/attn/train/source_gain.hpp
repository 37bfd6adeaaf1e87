#pragma once
#include "attn/train/batch_loss.hpp"

namespace attn {

/// Pairs each target of a batch with the source of the next sentence.
inline Batch with_wrong_sources(const Batch& batch) {
  Batch wrong = batch;
  wrong.source.clear();
  for (Index i = 0; i < batch.size(); ++i) wrong.source.push_back(batch.source[(i + 1) % batch.size()]);
  return wrong;
}

/// Measures how much a model uses its source: the increase of the loss, in nats per target token, when the sources of one
/// batch are permuted. Near 0, the model ignores its source. Empty if it cannot be measured: a single sentence, a model
/// without a source, or a loss whose first term is not a cross-entropy.
template <class Device>
std::optional<double> source_gain(Device& device, const BatchLoss<Device>& loss_of, Batches& text) {
  Batch batch;
  text.start_epoch(0);
  if (!text.next(batch) || batch.size() < 2) return {};
  const auto loss = [&](const Batch& of) {
    Tape<Device> tape(device);
    Loss<Device> value = loss_of(tape, of);
    return value.labels() > 0 ? value.mean() : 0;
  };
  const double gain = loss(with_wrong_sources(batch)) - loss(batch);
  return gain == 0 ? std::nullopt : std::optional(gain);
}

template <class Model>
std::optional<double> source_gain(const Network<Model>& network, Batches& text) {
  return source_gain(network.device(), BatchLoss(network), text);
}

}  // namespace attn
