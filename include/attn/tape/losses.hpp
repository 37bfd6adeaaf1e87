#pragma once
#include "attn/ops/cross_entropy.hpp"
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/cross_entropy.hpp"
#include "attn/tape/gather_columns.hpp"
#include "attn/tape/reductions.hpp"

namespace attn {

// Losses of activations. Each is a term that can be added to others (tape/loss.hpp).

template <class Device>
Loss<Device> scaled_sum(Variable<Device> x, double scale, std::string_view name) {
  using Real = typename Device::Real;
  return Loss<Device>(x.tape(), name, 1, x.slot != nullptr,
                      [x, scale](Tape<Device>& tape, Real* sums, const double* weight) {
                        for (Real* sum : {sums, sums + 1})
                          reduce_all(tape.device, {.x = x.value, .y = sum, .scale = scale});
                        if (weight != nullptr) fill(tape.device, {.value = *weight * scale, .y = tape.sink(x)});
                      });
}

auto sum(const Activation auto& x) { return scaled_sum(evaluated(x), 1, "sum"); }

/// The mean of all elements: mean(square(states)).
auto mean(const Activation auto& of) {
  const auto x = evaluated(of);
  return scaled_sum(x, 1 / static_cast<double>(std::max<Index>(x.rows() * x.cols(), 1)), "mean");
}

/// The mean squared error. torch.nn.MSELoss.
template <Activation X, OperandWith<X> Target>
auto mse(const X& x, const Target& target) {
  return mean(square(x - target)).named("mse");
}

/// The binary cross-entropy of sigmoid(logits) against targets between 0 and 1. torch.nn.BCEWithLogitsLoss.
template <Activation X, OperandWith<X> Target>
auto binary_cross_entropy(const X& logits, const Target& targets) {
  const auto x = evaluated(logits);
  return mean(softplus(x) - x * targets).named("binary_cross_entropy");
}

/// The cross-entropy of softmax(logits) against one label per row. torch.nn.CrossEntropyLoss. For the logits of an output
/// layer, Output::loss needs less memory.
template <Activation X>
auto cross_entropy(const X& of, const Text& labels, LossOptions options = {}) {
  using Device = typename X::DeviceType;
  const Variable<Device> x = evaluated(of);
  const double normalizer = options.divisor(x.rows());
  check_labels(labels, x.rows(), x.cols());
  return Loss<Device>(
      x.tape(), "cross_entropy", normalizer, x.slot != nullptr,
      [=, tokens = labels.tokens](Tape<Device>& tape, typename Device::Real* sums, const double* weight) {
        cross_entropy(tape.device, {.logits = x.value,
                                    .labels = tokens,
                                    .smoothing = options.smoothing,
                                    .amount = options.amount,
                                    .scale = weight != nullptr ? *weight / normalizer : 0,
                                    .nll = sums,
                                    .loss = sums + 1,
                                    .dlogits = weight != nullptr ? tape.sink(x) : Sink<typename Device::Scalar>{}});
      },
      x.rows());
}

/// The cross-entropy of each row, to weight, mask or transform before it is summed. Stores log_softmax(logits).
/// torch.nn.CrossEntropyLoss(reduction="none").
template <Activation X>
auto cross_entropy_per_row(const X& logits, const Text& labels, double label_smoothing = 0) {
  using Column = Variable<typename X::DeviceType, 1>;
  require(label_smoothing >= 0 && label_smoothing <= 1, "cross_entropy_per_row: label smoothing of ", label_smoothing,
          " is not in [0, 1]");
  const auto log_p = log_softmax(logits);
  const Column of_label = gather_columns(log_p, labels);
  if (label_smoothing == 0) return Column(-of_label);
  return Column((label_smoothing - 1) * of_label - label_smoothing * mean_columns(log_p));
}

/// The Kullback-Leibler divergence between probabilities, such as a teacher's, and softmax(logits), averaged over rows. The
/// probabilities get no gradient. torch.nn.KLDivLoss(reduction="batchmean") of log_softmax(logits).
template <Activation X, Activation P>
auto kl_divergence(const X& of, const P& probabilities) {
  using Device = typename X::DeviceType;
  using Real = typename Device::Real;
  const Variable<Device> x = evaluated(of), p = evaluated(probabilities);
  require(x.rows() == p.rows() && x.cols() == p.cols(), "kl_divergence: logits of ", x.rows(), " x ", x.cols(),
          " and probabilities of ", p.rows(), " x ", p.cols());
  const double scale = 1 / static_cast<double>(std::max<Index>(x.rows(), 1));
  return Loss<Device>(
      x.tape(), "kl_divergence", 1, x.slot != nullptr, [=](Tape<Device>& tape, Real* sums, const double* weight) {
        kl_divergence(tape.device, {.logits = x.value,
                                    .target = p.value,
                                    .scale = scale,
                                    .gradient_scale = weight != nullptr ? *weight * scale : 0,
                                    .y = sums,
                                    .dlogits = weight != nullptr ? tape.sink(x) : Sink<typename Device::Scalar>{}});
        kl_divergence(tape.device, {.logits = x.value, .target = p.value, .scale = scale, .y = sums + 1});
      });
}

}  // namespace attn
