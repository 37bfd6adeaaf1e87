#pragma once
#include "attn/ops/linear.hpp"
#include "attn/ops/lstm.hpp"

// lstm_cell   one step of an LSTM layer, one row per sentence, from its input to its states; has no gradient
//
//   (i, f, g, o) = x Wᵀ + b + h' Rᵀ;   i, f, o = sigmoid(.), g = tanh(.);   c = f c' + i g,   h = o tanh(c)
//
// Used by decoder steps; torch.nn.LSTMCell. Devices without a kernel for it run two ops.

namespace attn {

template <class Device>
struct LstmCellArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> x;                 // rows x in
  Matrix<const Scalar> input;             // 4 width x in: W
  const Scalar* bias;                     // 4 width
  Matrix<const Scalar> recurrent;         // 4 width x width: R
  Matrix<const Scalar> h0 = {}, c0 = {};  // rows x width, or none: 0
  Ragged rows;                            // sentences of one row each: 0, 1, 2, ...
  Matrix<Scalar> gates, c, previous;      // scratch memory, shaped as for lstm
  Matrix<Scalar> h;                       // rows x width: h after the step
  Matrix<Scalar> last_h, last_c;          // rows x width: a copy of h, and c
};

/// The step as two ops.
template <class Device>
void product_and_lstm(Device& device, const LstmCellArgs<Device>& args) {
  linear(device, {.x = args.x, .weight = args.input, .bias = args.bias, .y = args.gates});
  lstm(device, {.gates = args.gates,
                .rows = args.rows,
                .order = args.rows.begin,
                .recurrent = args.recurrent,
                .h0 = args.h0,
                .c0 = args.c0,
                .keep = false,
                .h = args.h,
                .c = args.c,
                .previous = args.previous,
                .last_h = args.last_h,
                .last_c = args.last_c});
}

template <class Device>
void lstm_cell(Device& device, const LstmCellArgs<Device>& args) {
  product_and_lstm(device, args);
}

}  // namespace attn
