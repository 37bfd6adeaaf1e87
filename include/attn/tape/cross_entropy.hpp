#pragma once
#include "attn/tape/embedding.hpp"
#include "attn/tape/linear.hpp"
#include "attn/tape/loss.hpp"
#include "attn/tape/loss_options.hpp"

namespace attn {

inline void check_labels(const Text& labels, Index predictions, Index vocabulary) {
  require(labels.rows.rows == predictions, "loss: ", labels.rows.rows, " labels for ", predictions, " predictions");
  require(labels.smallest >= 0 && labels.largest < vocabulary, "loss: label ",
          labels.smallest < 0 ? labels.smallest : labels.largest, " is not in a vocabulary of ", vocabulary);
}

/// The cross-entropy of softmax(x Wᵀ + b) against the labels, fused with the output layer. Logits are as wide as the
/// vocabulary, so they are computed in chunks of rows. In the backward pass a chunk becomes its gradient in place, which is
/// added to the gradients of x, W and b before the next chunk.
template <class Device>
Loss<Device> cross_entropy(Variable<Device> x, Parameter<Device> weight, Parameter<Device> bias, const Token* labels,
                           LossOptions options = {}) {
  using Scalar = typename Device::Scalar;
  const double normalizer = options.divisor(x.rows());
  require(x.cols() == weight.cols, "cross_entropy: hidden states of ", x.cols(), " columns for an output layer of ",
          weight.cols);
  const bool learns = x.slot != nullptr || weight.learns() || bias.learns();
  return Loss<Device>(
      x.tape(), "cross_entropy", normalizer, learns,
      [=](Tape<Device>& tape, typename Device::Real* sums, const double* factor) {
        const Matrix<const Scalar> table = weight.matrix();
        const Index rows = std::clamp<Index>(Device::logits_at_once / weight.rows, 1, std::max<Index>(x.rows(), 1));
        const Index stride =
            static_cast<Index>(align_up(static_cast<std::size_t>(weight.rows), 16));  // aligned rows for fast products
        const Scratch<Device, Scalar> memory(tape, rows, stride);
        const Sink<Scalar> dx = factor != nullptr ? tape.sink(x) : Sink<Scalar>{};
        for (Index first = 0; first < x.rows(); first += rows) {
          const Index count = std::min(rows, x.rows() - first);
          const auto logits = memory.matrix.row_range(0, count).columns(0, weight.rows);
          const auto h = x.value.row_range(first, count);
          linear(tape.device, {.x = h, .weight = table, .bias = bias.values(), .y = logits});
          cross_entropy(tape.device, {.logits = logits,
                                      .labels = labels + first,
                                      .smoothing = options.smoothing,
                                      .amount = options.amount,
                                      .scale = factor != nullptr ? *factor / normalizer : 0,
                                      .nll = sums,
                                      .loss = sums + 1,
                                      .dlogits = {factor != nullptr ? logits : Matrix<Scalar>{}}});
          if (factor == nullptr) continue;
          add_linear_gradient(tape, logits, h, weight, bias);
          if (!dx.to.empty())
            linear_input_gradient(tape.device,
                                  {.dy = logits, .weight = table, .dx = {dx.to.row_range(first, count), dx.add}});
        }
      },
      x.rows());
}

}  // namespace attn
