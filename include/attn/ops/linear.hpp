#pragma once
#include "attn/ops/operands.hpp"

// The matrix products of every layer, with fused epilogues.
//
//   linear                   y  = x Wᵀ + b                      optionally relu(.)
//   linear_input_gradient    dx = dy W                          optionally scaled, and 0 where the ReLU output is 0;
//                                                               then optionally also its column sums, for the bias below
//   linear_weight_gradient   dW += dyᵀ x,  db += sum of rows of dy

namespace attn {

template <class Device>
struct LinearArgs {
  InputOf<Device> x;                              // rows x in
  InputOf<Device> weight;                         // out x in
  const typename Device::Scalar* bias = nullptr;  // out, or none
  OutputOf<Device> y;                             // rows x out
  bool relu = false;
};

template <class Device>
struct LinearInputGradientArgs {
  InputOf<Device> dy;         // rows x out
  InputOf<Device> weight;     // out x in
  SinkOf<Device> dx;          // rows x in
  InputOf<Device> gate = {};  // rows x in: masks dx where gate <= 0; not together with dx.add
  double scale = 1;
  typename Device::Real* sums = nullptr;  // in, accumulates: the column sums of dx; only with a gate; or null
};

template <class Device>
struct LinearWeightGradientArgs {
  InputOf<Device> dy;                      // rows x out
  InputOf<Device> x;                       // rows x in
  Matrix<typename Device::Real> dweight;   // out x in, accumulates
  typename Device::Real* dbias = nullptr;  // out, accumulates, or none
};

}  // namespace attn
