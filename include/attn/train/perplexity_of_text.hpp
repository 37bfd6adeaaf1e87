#pragma once
#include <vector>

#include "attn/core/memory.hpp"
#include "attn/core/network.hpp"
#include "attn/data/batches.hpp"
#include "attn/metrics/perplexity.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// How well a model predicts a text: each token from the source and the target before it. Each batch has sums of its own,
/// which are read when all are done: the device never waits for the host, and the total is one of doubles. Several ranks share
/// the batches, and all get the bits that one would have got.
template <class Model>
Perplexity perplexity(const Network<Model>& network, Batches& text, Communicator* ranks = nullptr) {
  using Device = typename Model::DeviceType;
  using Real = typename Device::Real;
  Device& device = network.device();
  text.start_epoch(0);
  std::vector<Real> sums(static_cast<std::size_t>(2 * text.batches_per_epoch()));
  const Buffer<Real, typename Device::Memory> on_device(device, std::ssize(sums), "sums of losses");
  device.zero(on_device.data(), on_device.size());
  std::vector<Index> tokens;
  for (Batch batch; text.position().batch < text.batches_per_epoch();) {
    const Index place = std::ssize(tokens);
    tokens.push_back(text.next_size().labels);
    if (ranks != nullptr && place % ranks->ranks() != ranks->rank()) {
      text.skip();
      continue;
    }
    text.next(batch);
    Tape<Device> tape(device);
    auto loss = network->loss(tape, batch);
    require(loss.labels() > 0, "perplexity: the first term of the model's loss is no cross-entropy");
    loss.add_sums_to(on_device.data() + 2 * place);
    loss.evaluate_first();
  }
  device.download(sums.data(), on_device.data(), on_device.size());
  if (ranks != nullptr) {  // each sum is one rank's, and 0 at the others
    ranks->begin_sum(SharedNumbers(sums.data(), std::ssize(sums)));
    ranks->wait();
  }
  Perplexity result;
  for (std::size_t i = 0; i < tokens.size(); ++i) result.add(static_cast<double>(sums[2 * i]), tokens[i]);
  return result;
}

}  // namespace attn
