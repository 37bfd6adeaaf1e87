#pragma once
#include <cmath>

#include "attn/nn/layer_input.hpp"
#include "attn/nn/vocabulary_size.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"
#include "attn/tape/linear.hpp"

namespace attn {

/// From hidden states to a distribution over the vocabulary: softmax(x Wᵀ + b).
template <class Device, int Width = dynamic>
struct Output {
  using X = Variable<Device, Width>;

  Parameter<Device> weight;
  Parameter<Device> bias;  // or none

  /// Weights start as large as an embedding's, so that logits vary from the beginning. Glorot's are several times smaller for
  /// a vocabulary of thousands: with them recurrent models learn half as fast, and a plain LSTM at a high rate not at all.
  explicit Output(Index vocabulary, bool has_bias = true) requires(Width != dynamic)
      : Output(vocabulary, Width, has_bias) {}
  Output(Index vocabulary, Size<Width> width, bool has_bias = true)
      : weight{vocabulary_size(vocabulary), width, Initial::normal(1 / std::sqrt(static_cast<double>(int(width))))} {
    if (has_bias) bias = {vocabulary, 1};
  }

  /// Unnormalised log-probabilities of every word after every row.
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
