#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/ops/operands.hpp"

// Residual connection, dropout and layer normalisation in one pass over the rows.
//
//   layer_norm            z = x + dropout(s),   y = (z - mean(z)) / sqrt(variance(z) + epsilon) * gain + bias
//   layer_norm_gradient   dz from dy; dx = dz, ds = dropout(dz); dgain, dbias accumulate
//
// Without centring (RMS normalisation; Zhang and Sennrich 2019, torch.nn.RMSNorm) the mean is 0 and there is no bias:
//
//   y = z / sqrt(mean(z²) + epsilon) * gain
//
// Without a branch s, z is x and is not written. With one, z is written for the gradient if it has memory.
// Ba, Kiros and Hinton, 2016; torch.nn.LayerNorm.

namespace attn {

template <class Device>
struct LayerNormArgs {
  InputOf<Device> x;                                // rows x width
  InputOf<Device> branch = {};                      // s: rows x width, or empty
  Dropout dropout = {};                             // of the branch
  const typename Device::Scalar *gain, *bias;       // width; no bias without centring
  OutputOf<Device> z = {};                          // rows x width, or empty: written if there is a branch
  OutputOf<Device> y;                               // rows x width
  typename Device::Real *mean, *inverse_deviation;  // rows, kept for the gradient
  float epsilon = 1e-5f;
  bool center = true;
};

template <class Device>
struct LayerNormGradientArgs {
  InputOf<Device> z, dy;                                  // rows x width
  const typename Device::Scalar* gain;                    // width
  const typename Device::Real *mean, *inverse_deviation;  // rows
  Dropout dropout = {};                                   // of the branch
  SinkOf<Device> dx;                                      // rows x width
  SinkOf<Device> dbranch = {};                            // rows x width, or empty
  typename Device::Real *dgain, *dbias;                   // width, accumulate; no dbias without centring
  bool center = true;
};

}  // namespace attn
