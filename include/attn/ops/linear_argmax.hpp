#pragma once
#include "attn/ops/argmax.hpp"
#include "attn/ops/linear.hpp"

// linear_argmax   best[i] = the column of the largest number of row i of x Wᵀ + b, `except` left out; of equals the first
//
// A step of greedy decoding asks for nothing else of its logits, so a device may keep from writing them. This body, for
// those that do not, is the two ops.

namespace attn {

template <class Device>
struct LinearArgmaxArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;        // rows x in
  Matrix<const Scalar> weight;   // classes x in
  const Scalar* bias = nullptr;  // classes, or none
  Matrix<Scalar> logits;         // rows x classes: room for them; what stands there afterwards is the device's
  Token* best;                   // rows
  Token except = -1;             // a class that is never best, or none
};

template <class Device>
void linear_argmax(Device& device, const LinearArgmaxArgs<Device>& args) {
  linear(device, {.x = args.x, .weight = args.weight, .bias = args.bias, .y = args.logits});
  argmax(device, {.logits = args.logits, .best = args.best, .except = args.except});
}

}  // namespace attn
