#pragma once
#include <algorithm>

#include "attn/core/parameter.hpp"
#include "attn/ops/cross_entropy.hpp"
#include "attn/ops/linear.hpp"
#include "attn/tape/loss_options.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// The summed loss of a batch, on the device.
template <class Device>
struct Loss {
  using Real = typename Device::Real;
  Real* sums = nullptr;  // 2: negative log-likelihood, smoothed loss
  Index tokens = 0;

  struct Sums {
    double nll, loss;
  };
  Sums read(Device& device) const {
    Real host[2];
    device.download(host, sums, 2);
    return {static_cast<double>(host[0]), static_cast<double>(host[1])};
  }
  /// Mean negative log-likelihood of a label.
  double mean(Device& device) const { return read(device).nll / static_cast<double>(std::max<Index>(tokens, 1)); }
};

/// The cross-entropy of softmax(x Wᵀ + b) against the labels. Logits are as wide as the vocabulary, so they exist for a
/// chunk of rows at a time, and their gradient goes on to x, W and b before the next chunk: the loss is where the backward
/// pass starts anyway.
template <class Device, int Width>
Loss<Device> cross_entropy(Tape<Device>& tape, Variable<Device, Width> x, Parameter<Device> weight, Parameter<Device> bias,
                           const Token* labels, LossOptions options, typename Device::Real* sums = nullptr) {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  require(options.amount >= 0 && options.amount <= 1, "cross_entropy: label smoothing of ", options.amount,
          " is not in [0, 1]");
  const Matrix<const Scalar> table = weight.matrix();
  Loss<Device> loss{sums, x.rows()};
  if (sums == nullptr) {
    loss.sums = tape.template array<Real>(2);
    tape.device.zero(loss.sums, 2);
  }
  const Index rows = std::clamp<Index>(Device::logits_at_once / weight.rows, 1, std::max<Index>(x.rows(), 1));
  const Index stride =
      static_cast<Index>(align_up(static_cast<std::size_t>(weight.rows), 16));  // rows on boundaries that products like
  const Matrix<Scalar> memory = tape.template scratch<Scalar>(rows, stride);
  const double normalizer = options.normalizer > 0 ? options.normalizer : static_cast<double>(std::max<Index>(x.rows(), 1));
  const Sink<Scalar> dx = tape.recording() ? tape.sink(x) : Sink<Scalar>{};
  for (Index first = 0; first < x.rows(); first += rows) {
    const Index count = std::min(rows, x.rows() - first);
    const auto logits = memory.row_range(0, count).columns(0, weight.rows);
    const auto h = x.value.row_range(first, count);
    linear(tape.device, {.x = h, .weight = table, .bias = bias.values(), .y = logits});
    cross_entropy(tape.device, {.logits = logits,
                                .labels = labels + first,
                                .smoothing = options.smoothing,
                                .amount = options.amount,
                                .gradient = tape.recording(),
                                .scale = 1 / normalizer,
                                .nll = loss.sums,
                                .loss = loss.sums + 1});
    if (!tape.recording()) continue;
    linear_weight_gradient(tape.device,
                           {.dy = logits, .x = h, .dweight = weight.gradient_matrix(), .dbias = bias.gradients()});
    linear_input_gradient(tape.device, {.dy = logits, .weight = table, .dx = {dx.to.row_range(first, count), dx.add}});
  }
  tape.release(memory);
  return loss;
}

}  // namespace attn
