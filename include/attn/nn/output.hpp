#pragma once
#include "attn/nn/vocabulary_size.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// From hidden states to a distribution over the vocabulary: softmax(x Wᵀ + b). The vocabulary's size is known at run time.
template <class Device, int Width>
struct Output {
  Parameter<Device> weight;
  Parameter<Device> bias;  // or none

  /// Weights as large as an embedding's at first, so that logits vary from the beginning. Glorot's are several times smaller for
  /// a vocabulary of thousands: with them recurrent models learn half as fast, and a plain LSTM at a high rate not at all.
  explicit Output(Index vocabulary, bool has_bias = true)
      : weight{vocabulary_size(vocabulary), Width, Initial::normal(1 / std::sqrt(static_cast<double>(Width)))} {
    if (has_bias) bias = {vocabulary, 1};
  }

  /// Unnormalised log-probabilities of every word after every row.
  Matrix<typename Device::Scalar> logits(Tape<Device>& tape, Variable<Device, Width> x) const {
    using Scalar = typename Device::Scalar;
    const Matrix<Scalar> y(tape.template array<Scalar>(x.rows() * weight.rows), x.rows(), weight.rows);
    linear(tape.device, {.x = x.value, .weight = weight.matrix(), .bias = bias.values(), .y = y});
    return y;
  }

  /// The cross-entropy against the right words, where the backward pass starts.
  Loss<Device> loss(Tape<Device>& tape, Variable<Device, Width> x, const Text& labels, LossOptions options = {},
                    typename Device::Real* sums = nullptr) const {
    require(labels.rows.rows == x.rows(), "loss: ", labels.rows.rows, " labels for ", x.rows(), " predictions");
    require(labels.smallest >= 0 && labels.largest < weight.rows, "loss: label ",
            labels.smallest < 0 ? labels.smallest : labels.largest, " is not in a vocabulary of ", weight.rows);
    return cross_entropy(tape, x, weight, bias, labels.tokens, options, sums);
  }

  void for_each_parameter(auto&& visit) {
    visit("weight", weight);
    if (bias.size() > 0) visit("bias", bias);
  }
};

}  // namespace attn
