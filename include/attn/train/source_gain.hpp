#pragma once
#include <optional>

#include "attn/core/network.hpp"
#include "attn/data/batches.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// A batch in which each sentence stands beside its neighbour's translation.
inline Batch with_wrong_sources(const Batch& batch) {
  Batch wrong = batch;
  wrong.source.clear();
  for (Index i = 0; i < batch.size(); ++i) wrong.source.push_back(batch.source[(i + 1) % batch.size()]);
  return wrong;
}

/// How much a model has from its source: by how many nats a target token is less probable when the sources of one batch are
/// exchanged among its sentences. Near 0, the model writes what is likely in the language and has not learnt to look at what it
/// translates. Nothing where that cannot be told: one sentence, or a model that reads no source.
template <class Model>
std::optional<double> source_gain(const Network<Model>& network, Batches& text) {
  Batch batch;
  text.start_epoch(0);
  if (!text.next(batch) || batch.size() < 2) return {};
  const auto loss = [&](const Batch& of) {
    Tape<typename Model::DeviceType> tape(network.device());
    return static_cast<double>(network->loss(tape, of).mean());
  };
  const double gain = loss(with_wrong_sources(batch)) - loss(batch);
  return gain == 0 ? std::nullopt : std::optional(gain);
}

}  // namespace attn
