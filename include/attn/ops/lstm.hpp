#pragma once
#include <array>

#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"
#include "attn/ops/no_backend.hpp"

// One LSTM layer over ragged sentences. The input side of all rows is computed before, in one product (gates = x Wᵀ + b);
// this op is the recurrence. For each row, with the states h' and c' of the step before it:
//
//   lstm            (i, f, g, o) = gates + h' Rᵀ;   i, f, o = sigmoid(.), g = tanh(.);   c = f c' + i g,   h = o tanh(c)
//   lstm_gradient   the gradient of the gates before their activation, from those of h and of the last h and c:
//                   dc = dc' + dh o (1 - tanh²(c));   di = dc g i (1 - i),   df = dc c' f (1 - f),   dg = dc i (1 - g²),
//                   do = dh tanh(c) o (1 - o);   to the step before: dh = (di, df, dg, do) R + its own,   dc' = dc f
//
// The weights' gradients are products over all rows: dW += dgatesᵀ x, dR += dgatesᵀ previous. Sentences advance
// together: at step t those that are still alive are a prefix of `order`. An empty sentence ends in the states it began
// with. Who needs no gradient says so: gates, c and previous are then room for the device, and hold nothing afterwards.
// Several LSTMs of one width over the same sentences, as the two directions of a layer, are given together: a device may
// walk them at the same time, so that none writes where another reads or writes.
// Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000; gates in the order of torch.nn.LSTM.

namespace attn {

template <class Device>
struct LstmArgs {
  using Scalar = typename Device::Scalar;
  Matrix<Scalar> gates;  // rows x 4 width: i, f, g, o; in: x Wᵀ + b; out: activated
  Ragged rows;
  const std::int32_t* order;                // sentences by falling length
  Matrix<const Scalar> recurrent;           // 4 width x width: R
  Matrix<const Scalar> h0 = {}, c0 = {};    // sentences x width, or none: 0
  bool reverse = false;                     // each sentence from its end to its start
  bool keep = true;                         // what a gradient needs: gates, c, previous
  Matrix<Scalar> h, c;                      // rows x width: the states after each row's step
  Matrix<Scalar> previous;                  // rows x width: the h before it
  Matrix<Scalar> last_h = {}, last_c = {};  // sentences x width, or none: the states after each sentence's last step
};

template <class Device>
struct LstmGradientArgs {
  using Scalar = typename Device::Scalar;
  LstmArgs<Device> forward;
  Matrix<const Scalar> dh = {};                     // rows x width, or none: 0
  Matrix<const Scalar> dlast_h = {}, dlast_c = {};  // sentences x width, or none: 0
  Matrix<Scalar> dgates;                            // rows x 4 width, set; may be the forward gates, which are then lost
  Sink<Scalar> dh0 = {}, dc0 = {};                  // sentences x width, or none
};

template <class Device>
void lstm(Device&, const LstmArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void lstm_gradient(Device&, const LstmGradientArgs<Device>&) {
  no_backend<Device>();
}

template <class Device, std::size_t Ways>
void lstm(Device& device, const std::array<LstmArgs<Device>, Ways>& ways) {
  for (const auto& way : ways) lstm(device, way);
}
template <class Device, std::size_t Ways>
void lstm_gradient(Device& device, const std::array<LstmGradientArgs<Device>, Ways>& ways) {
  for (const auto& way : ways) lstm_gradient(device, way);
}

}  // namespace attn
