#pragma once
#include "attn/core/network.hpp"
#include "attn/decode/model_steps.hpp"

namespace attn {

/// The probability of each token to be the next one, given a source and a target prefix, both without special tokens.
/// Includes ids past the vocabulary, which pad the model's embedding tables.
template <class Device, class Model>
std::vector<double> next_token(Device& device, const Model& model, const SpecialTokens& special_tokens,
                               std::span<const Token> source, std::span<const Token> target) {
  Sentences read;
  special_tokens.add_source(read, source);
  ModelSteps<Device, Model> steps(device, model, read, static_cast<Index>(target.size()) + 1, 1);
  std::vector<double> p;
  steps.log_probabilities({special_tokens.begin}, p);
  for (const Token token : target) steps.log_probabilities({token}, p);
  for (double& x : p) x = std::exp(x);
  return p;
}

template <class Model>
std::vector<double> next_token(const Network<Model>& network, const SpecialTokens& special_tokens,
                               std::span<const Token> source, std::span<const Token> target) {
  return next_token(network.device(), *network, special_tokens, source, target);
}

}  // namespace attn
