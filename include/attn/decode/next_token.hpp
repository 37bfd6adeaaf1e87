#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "attn/core/network.hpp"
#include "attn/core/sentences.hpp"
#include "attn/data/batches.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// softmax(logits), summed in double.
template <class Scalar>
std::vector<double> probabilities(const std::vector<Scalar>& logits) {
  std::vector<double> p;
  p.reserve(logits.size());
  for (const Scalar logit : logits) p.push_back(static_cast<double>(static_cast<float>(logit)));
  if constexpr (std::is_same_v<Scalar, double>) p.assign(logits.begin(), logits.end());
  const double most = *std::max_element(p.begin(), p.end());
  double total = 0;
  for (double& x : p) total += x = std::exp(x - most);
  for (double& x : p) x /= total;
  return p;
}

/// The probability of every token to be the next one, given a source and the target so far, both without special tokens.
/// Ids past the vocabulary, which pad the model's tables, count as tokens.
template <class Device, class Model>
std::vector<double> next_token(Device& device, const Model& model, const SpecialTokens& special_tokens,
                               std::span<const Token> source, std::span<const Token> target) {
  using Scalar = typename Device::Scalar;
  Sentences read;
  special_tokens.add_source(read, source);
  Tape<Device> tape(device);
  auto state = model.start(tape, upload(tape, read), static_cast<Index>(target.size()) + 1);
  std::vector<Scalar> logits;
  for (std::size_t i = 0; i <= target.size(); ++i) {
    Tape<Device> step(device);
    const auto row = model.next(step, state, {i == 0 ? special_tokens.begin : target[i - 1]});
    if (i < target.size()) continue;
    logits.resize(static_cast<std::size_t>(row.cols));
    device.download(logits.data(), row.row(0), row.cols);
  }
  return probabilities(logits);
}

/// The same with a network, on its device.
template <class Model>
std::vector<double> next_token(const Network<Model>& network, const SpecialTokens& special_tokens,
                               std::span<const Token> source, std::span<const Token> target) {
  return next_token(network.device(), *network, special_tokens, source, target);
}

}  // namespace attn
