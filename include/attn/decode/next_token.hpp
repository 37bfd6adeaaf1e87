#pragma once
#include "attn/core/network.hpp"
#include "attn/decode/decoder_model.hpp"

namespace attn {

/// The probability of each token to be the next one, given a source and a target prefix, both without special tokens.
/// Includes ids past the vocabulary, which pad the model's embedding tables.
template <class Device, class Model>
std::vector<double> next_token(Device& device, const Model& model, const SpecialTokens& special_tokens,
                               std::span<const Token> source, std::span<const Token> target) {
  Sentences read;
  special_tokens.add_source(read, source);
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, read), static_cast<Index>(target.size()) + 1, 1);
  std::vector<typename Device::Scalar> logits;
  for (std::size_t i = 0; i <= target.size(); ++i) {
    Tape<Device> step(device);
    const auto row = next_logits(step, model, state, {i == 0 ? special_tokens.begin : target[i - 1]});
    if (i < target.size()) continue;
    logits.resize(static_cast<std::size_t>(row.cols));
    device.download(logits.data(), row.row(0), row.cols);
  }
  std::vector<double> p;
  for (const auto logit : logits) p.push_back(static_cast<typename Device::Real>(logit));
  const double most = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& x : p) total += x = std::exp(x - most);
  for (double& x : p) x /= total;
  return p;
}

template <class Model>
std::vector<double> next_token(const Network<Model>& network, const SpecialTokens& special_tokens,
                               std::span<const Token> source, std::span<const Token> target) {
  return next_token(network.device(), *network, special_tokens, source, target);
}

}  // namespace attn
