#pragma once
#include <cmath>

#include "attn/nn/layer_input.hpp"
#include "attn/nn/vocabulary_size.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// Maps hidden states to a distribution over the vocabulary: softmax(x Wᵀ + b).
template <class Device, int Width = dynamic>
struct Output {
  using X = Variable<Device, Width>;

  Parameter<Device> weight;
  Parameter<Device> bias;  // optional

  /// Weights start as large as an embedding's, so logits vary from the beginning. For a vocabulary of thousands, Glorot
  /// weights are several times smaller: recurrent models then learn half as fast, and a plain LSTM with a high learning rate
  /// does not learn.
  explicit Output(Index vocabulary, bool has_bias = true) requires(Width != dynamic)
      : Output(vocabulary, Width, has_bias) {}
  Output(Index vocabulary, Size<Width> width, bool has_bias = true)
      : weight{vocabulary_size(vocabulary), width, Initializer::normal(1 / std::sqrt(static_cast<double>(int(width))))} {
    if (has_bias) bias = {vocabulary, 1};
  }

  /// Unnormalised log-probabilities of the next token: rows x vocabulary.
  Variable<Device> logits(X x) const {
    check_input("Output", weight.cols, x);
    return output_of<Device, dynamic>("Output", linear(x, weight, bias));
  }

  /// The cross-entropy of softmax(logits(x)) against the labels, without storing all logits.
  Loss<Device> loss(X x, const Text& labels, LossOptions options = {}) const {
    check_input("Output", weight.cols, x);
    check_labels(labels, x.rows(), weight.rows);
    return cross_entropy(x, weight, bias, labels.tokens, options);
  }

  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    if (bias.size() > 0) visit("bias", bias);
  }
};

}  // namespace attn
