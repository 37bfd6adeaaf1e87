#pragma once
#include <algorithm>

#include "attn/ops/cross_entropy.hpp"
#include "cuda/guarded.hpp"

// Losses of logits that stay as they are. Both: rows, classes, gap, bound, scale; upstream: a factor of the gradient; add.

/// others: the other definition of smoothing; amount.
template <class Device>
Results cross_entropy_gradient_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), classes = test.size("classes"), gap = test.size("gap");
  const bool add = test.flag("add");
  const Numbers numbers = operand(rows * classes, 1, precision, test.number("bound", 4));
  const Activations<Device> logits(device, rows, classes, numbers, gap),
      dlogits(device, rows, classes, add ? operand(rows * classes, 3, precision) : Numbers{}, gap);
  const Integers<Device> labels(device, whole_numbers(rows, 2, classes));
  const Reals<Device> sums(device, 1, 2, {1, 2});
  cross_entropy(device, {.logits = logits,
                         .labels = labels.data(),
                         .smoothing = test.flag("others") ? attn::Smoothing::others : attn::Smoothing::uniform,
                         .amount = test.number("amount"),
                         .scale = test.number("scale", 1) * test.number("upstream", 1),
                         .nll = sums.data(),
                         .loss = sums.data() + 1,
                         .dlogits = {dlogits, add}});
  attn::require(same_bits(logits.read("logits"), numbers), "cross_entropy changed the logits");
  return {{"dlogits", dlogits.read("dlogits")}};
}

/// Targets are not negative, half of them 0, and do not sum to 1.
template <class Device>
Results kl_divergence_case(Device& device, const OpCase& test, Precision precision) {
  const attn::Index rows = test.size("rows"), classes = test.size("classes"), gap = test.size("gap");
  const bool add = test.flag("add");
  Numbers shares = operand(rows * classes, 2, precision);
  for (double& share : shares) share = std::max(0.0, share);
  const Activations<Device> logits(device, rows, classes, operand(rows * classes, 1, precision, test.number("bound", 4)),
                                   gap),
      target(device, rows, classes, shares, gap),
      dlogits(device, rows, classes, add ? operand(rows * classes, 3, precision) : Numbers{}, gap);
  const Reals<Device> loss(device, 1, 1, {1});
  const double scale = test.number("scale", 1);
  kl_divergence(device, {.logits = logits,
                         .target = target,
                         .scale = scale,
                         .gradient_scale = scale * test.number("upstream", 1),
                         .y = loss.data(),
                         .dlogits = {dlogits, add}});
  // One number, a sum of many: which order of adding is the luckier is chance.
  return {{.name = "loss", .numbers = loss.read("loss"), .in_float = true, .floor = 0x1p-21},
          {"dlogits", dlogits.read("dlogits")}};
}
