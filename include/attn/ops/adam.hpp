#pragma once
#include "attn/ops/sum_of_squares.hpp"
#include "attn/ops/update_factors.hpp"

// One pass over the flat buffers: clipping, Adam, weight decay, the low-precision copy, and gradients back to 0.
//
//   adam             g = gradient * clip;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g²
//                    value -= rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
//
//   clip             as in ops/sum_of_squares.hpp
//   decoupled decay  value -= rate * decay * value   (AdamW)
//   coupled decay    g += decay * value
//   amsgrad          divides by the largest v so far
//   factors          override decay and scale rate per block; a block with rate factor 0 keeps its values, m and v,
//                    and its gradients are zeroed
//
// Kingma and Ba 2015; Loshchilov and Hutter 2019; Reddi et al. 2018; torch.optim.Adam.

namespace attn {

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
  using Scalar = typename Device::Scalar;
  using Real = typename Device::Real;
  Real *value, *gradient, *m, *v;  // count; gradients are 0 afterwards
  Real* largest_v = nullptr;       // count, for AMSGrad
  Scalar* compute = nullptr;       // count: the copy in compute precision, if separate from value
  Index count;
  const Real* squares = nullptr;  // 1: the gradients' sum of squares, for clipping
  AdamOptions options;
  double rate;
  Index step;  // from 1
  LeftOut<Real> left_out = {};
  const UpdateFactors<Real>* factors = nullptr;  // one per kParameterBlock values; nullptr: all updated alike
};

}  // namespace attn
