#pragma once
#include "attn/ops/argmax.hpp"
#include "attn/ops/linear.hpp"

// linear_argmax   best[i] = the column of the largest element of row i of x Wᵀ + b, excluding `except`; the first of equals
//
// A greedy decoding step needs only the argmax, so a device may avoid writing the logits. This fallback runs the two
// ops.

namespace attn {

template <class Device>
struct LinearArgmaxArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;        // rows x in
  Matrix<const Scalar> weight;   // classes x in
  const Scalar* bias = nullptr;  // classes, or none
  Matrix<Scalar> logits;         // rows x classes: scratch; contents afterwards unspecified
  Token* best;                   // rows
  Token except = -1;             // a class to exclude, or -1
};

template <class Device>
void linear_argmax(Device& device, const LinearArgmaxArgs<Device>& args) {
  linear(device, {.x = args.x, .weight = args.weight, .bias = args.bias, .y = args.logits});
  argmax(device, {.logits = args.logits, .best = args.best, .except = args.except});
}

}  // namespace attn
