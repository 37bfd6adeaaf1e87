#pragma once
#include "attn/core/parameter.hpp"
#include "attn/ops/operands.hpp"

namespace attn {

/// Update factors of one block of kParameterBlock values in the flat buffers. A table of them gives parameters different
/// learning rates and weight decays.
template <class Real>
struct UpdateFactors {
  Real rate = 1;          // factor on the learning rate; 0: the block and its state do not change
  Real weight_decay = 0;  // overrides the options'
  bool operator==(const UpdateFactors&) const = default;
};

// sum_of_squares   total = sum of x[i]², in a fixed order
//
// Over all gradients it is their squared norm, used for clipping: optimisers multiply every gradient by
//
//   clip = min(1, clip_norm / (sqrt(total) + 1e-6)),   torch.nn.utils.clip_grad_norm_.
//
// If the norm is not finite, neither are the gradients, and the step would ruin every parameter. An optimiser with LeftOut
// skips the step and records it there, without a host synchronisation.

template <class Device>
struct SumOfSquaresArgs {
  const typename Device::Real* x;  // count
  Index count;
  typename Device::Real* total;  // 1, set
};

/// Records steps skipped because of non-finite gradients.
template <class Real>
struct LeftOut {
  Real* noted = nullptr;        // 2: number of skipped steps and the first one; nullptr: skip none
  bool keep_gradients = false;  // keep the gradients of a skipped step for inspection instead of zeroing them
};

// One pass over the flat buffers: clipping, Adam, weight decay, the low-precision copy, and gradients back to 0.
//
//   adam             g = gradient * clip;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g²
//                    value -= rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
//
//   clip             as for sum_of_squares
//   decoupled decay  value -= rate * decay * value   (AdamW)
//   coupled decay    g += decay * value
//   amsgrad          divides by the largest v so far
//   factors          override decay and scale rate per block; a block with rate factor 0 keeps its values, m and v,
//                    and its gradients are zeroed
//
// Kingma and Ba 2015; Loshchilov and Hutter 2019; Reddi et al. 2018; torch.optim.Adam.

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
  enum class Decay { decoupled, coupled } decay = Decay::decoupled;
  bool decay_vectors = false;  // Adam (optim/adam.hpp) applies weight decay to biases and norms as well as to matrices
  bool amsgrad = false;
  double clip_norm = 0;  // maximum global gradient norm; 0: no clipping
};

template <class Device>
struct AdamArgs {
  using Real = typename Device::Real;
  Real *value, *gradient, *m, *v;              // count; gradients are 0 afterwards
  Real* largest_v = nullptr;                   // count, for AMSGrad
  typename Device::Scalar* compute = nullptr;  // count: the copy in compute precision, if separate from value
  Index count;
  const Real* squares = nullptr;  // 1: the gradients' sum of squares, for clipping
  AdamOptions options;
  double rate;
  Index step;  // from 1
  LeftOut<Real> left_out = {};
  const UpdateFactors<Real>* factors = nullptr;  // one per kParameterBlock values; nullptr: all updated alike
};

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

struct SgdOptions {
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  bool decay_vectors = false;  // Sgd (optim/sgd.hpp) applies weight decay to biases and norms as well as to matrices
  double clip_norm = 0;        // maximum global gradient norm; 0: no clipping
};

template <class Device>
struct SgdArgs {
  using Real = typename Device::Real;
  Real *value, *gradient;                      // count; gradients are 0 afterwards
  Real* momentum = nullptr;                    // count: b; null without momentum
  typename Device::Scalar* compute = nullptr;  // count: the copy in compute precision, if separate from value
  Index count;
  const Real* squares = nullptr;  // 1: the gradients' sum of squares, for clipping
  SgdOptions options;
  double rate;
  Index step = 0;  // from 1
  LeftOut<Real> left_out = {};
  const UpdateFactors<Real>* factors = nullptr;  // one per kParameterBlock values; nullptr: all updated alike
};

// Over the flat buffer of all weights:
//
//   moving_average   average += (1 - decay) * (value - average)
//   exchange_average swaps value and average, and updates the low-precision copy of value

template <class Device>
struct MovingAverageArgs {
  const typename Device::Real* value;  // count
  typename Device::Real* average;      // count
  Index count;
  double decay;
};

template <class Device>
struct ExchangeAverageArgs {
  typename Device::Real *value, *average;      // count
  typename Device::Scalar* compute = nullptr;  // count: the copy in compute precision, if separate from value
  Index count;
};

}  // namespace attn
