#pragma once
#include "attn/metrics/perplexity.hpp"
#include "attn/train/batch_loss.hpp"

namespace attn {

/// The loss of a text.
struct TextLoss {
  double value = 0;       // the weighted sum of all terms, as training minimises it: the mean over target tokens
  Perplexity first = {};  // of the first term, a cross-entropy; without tokens if it is another loss
};

/// Each batch has its own device sums, read once at the end and added as doubles, so the device never waits for the host.
/// Several ranks share the batches and get bitwise the result of one.
template <class Device>
TextLoss loss_of_text(Device& device, const BatchLoss<Device>& loss_of, Batches& text, Communicator* ranks = nullptr) {
  using Real = typename Device::Real;
  constexpr Index most = LossTerms<Device>::most;
  text.start_epoch(0);
  std::vector<Real> sums(static_cast<std::size_t>(2 * most * text.batches_per_epoch()));
  const Buffer<Real, typename Device::Memory> on_device(device, std::ssize(sums), "sums of losses");
  device.zero(on_device.data(), on_device.size());
  std::vector<std::array<double, 3>> batches;  // its loss; its first term's sum and predictions, if a cross-entropy
  std::vector<std::pair<std::size_t, double>> weights;  // indices of sums, and their weights in the loss of their batch
  double tokens = 0;
  for (Batch batch; text.position().batch < text.batches_per_epoch();) {
    const Index place = std::ssize(batches);
    batches.push_back({});
    const auto labels = static_cast<double>(text.next_size().labels);
    tokens += labels;
    if (ranks != nullptr && place % ranks->ranks() != ranks->rank()) {
      text.skip();
      continue;
    }
    text.next(batch);
    Tape<Device> tape(device);
    auto loss = loss_of(tape, batch);
    LossTerms<Device>::check(loss);
    batches.back()[2] = static_cast<double>(loss.labels());
    auto sum = static_cast<std::size_t>(2 * most * place);
    loss.add_sums_to(on_device.data() + sum);
    loss.for_each([&](const auto& term, double weight) {
      weights.emplace_back(sum + 1, weight * (labels / term.normalizer));
      sum += 2;
    });
    loss.evaluate();
  }
  device.download(sums.data(), on_device.data(), on_device.size());
  for (const auto& [sum, weight] : weights) batches[sum / (2 * most)][0] += weight * static_cast<double>(sums[sum]);
  for (std::size_t i = 0; i < batches.size(); ++i)
    if (batches[i][2] > 0) batches[i][1] = static_cast<double>(sums[2 * most * i]);
  if (ranks != nullptr && !batches.empty())
    ranks->sum(batches[0].data(), 3 * std::ssize(batches));  // 0 on all ranks but one
  TextLoss result;
  for (const auto& [loss, nll, predictions] : batches) {
    result.value += loss;
    result.first.add(nll, static_cast<Index>(predictions));
  }
  result.value /= std::max(tokens, 1.0);
  return result;
}

/// Perplexity of a text: each target token given the source and the preceding target tokens.
template <class Model>
Perplexity perplexity(const Network<Model>& network, Batches& text, Communicator* ranks = nullptr) {
  const Perplexity first = loss_of_text(network.device(), BatchLoss(network), text, ranks).first;
  require(first.tokens() > 0,
          "perplexity: the first term of the model's loss must be a cross-entropy, and the text must not be empty");
  return first;
}

}  // namespace attn
