#pragma once
#include "attn/ops/sum_of_squares.hpp"
#include "attn/ops/update_factors.hpp"

// One pass over the flat buffers: clipping, weight decay, momentum, the low-precision copy, and gradients back to 0.
//
//   sgd   g = gradient * clip + decay * value;  b = momentum * b + g
//         value -= rate * (g               without momentum
//                          b               with it
//                          g + momentum b  with Nesterov's)
//
// factors override decay and scale rate per block; a block with rate factor 0 keeps its values and b, and its gradients are
// zeroed.
//
// torch.optim.SGD without dampening; Sutskever et al. 2013.

namespace attn {

struct SgdOptions {
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  bool decay_vectors = false;  // Sgd (optim/sgd.hpp) applies weight decay to biases and norms as well as to matrices
  double clip_norm = 0;        // maximum global gradient norm; 0: no clipping
};

template <class Device>
struct SgdArgs {
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Real *value, *gradient;     // count; gradients are 0 afterwards
  Real* momentum = nullptr;   // count: b; null without momentum
  Scalar* compute = nullptr;  // count: the copy in compute precision, if separate from value
  Index count;
  const Real* squares = nullptr;  // 1: the gradients' sum of squares, for clipping
  SgdOptions options;
  double rate;
  Index step = 0;  // from 1
  LeftOut<Real> left_out = {};
  const UpdateFactors<Real>* factors = nullptr;  // one per kParameterBlock values; nullptr: all updated alike
};

}  // namespace attn
