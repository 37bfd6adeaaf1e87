#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/ops/linear.hpp"
#include "attn/ops/operands.hpp"

// One LSTM layer over ragged sentences. The caller computes the input side of all rows in one product (gates = x Wᵀ + b);
// this op is the recurrence. For each row, with the states h' and c' of the previous step:
//
//   lstm            (i, f, g, o) = gates + h' Rᵀ;   i, f, o = sigmoid(.), g = tanh(.);   c = f c' + i g,   h = o tanh(c)
//   lstm_gradient   the gradient of the gates before their activation, from the gradients of h and of the last h and c:
//                   dc = dc' + dh o (1 - tanh²(c));   di = dc g i (1 - i),   df = dc c' f (1 - f),   dg = dc i (1 - g²),
//                   do = dh tanh(c) o (1 - o);   for the previous step: dh = (di, df, dg, do) R + its own,   dc' = dc f
//
// The weights' gradients are products over all rows: dW += dgatesᵀ x, dR += dgatesᵀ previous. Sentences advance together:
// at step t the active ones are a prefix of `order`. The last states of an empty sentence are its initial ones. With keep =
// false, gates, c and previous are scratch memory, and their contents afterwards are unspecified. Several LSTMs of one
// width over the same sentences, for example both directions of a layer, go into one call: a device may run them
// concurrently, so none may write memory that another reads or writes. Hochreiter and Schmidhuber 1997, with the forget
// gate of Gers et al. 2000; gates in the order of torch.nn.LSTM.

namespace attn {

template <class Device>
struct LstmArgs {
  OutputOf<Device> gates;  // rows x 4 width: i, f, g, o; in: x Wᵀ + b; out: activated
  Ragged rows;
  const std::int32_t* order;                  // sentences by decreasing length
  InputOf<Device> recurrent;                  // 4 width x width: R
  InputOf<Device> h0 = {}, c0 = {};           // sentences x width, or none: 0
  bool reverse = false;                       // process each sentence from its end to its start
  bool keep = true;                           // store gates, c and previous for the gradient
  OutputOf<Device> h, c;                      // rows x width: the states after each row's step
  OutputOf<Device> previous;                  // rows x width: the h before each row's step
  OutputOf<Device> last_h = {}, last_c = {};  // sentences x width, or none: the states after each sentence's last step
};

template <class Device>
struct LstmGradientArgs {
  LstmArgs<Device> forward;
  InputOf<Device> dh = {};                     // rows x width, or empty: 0
  InputOf<Device> dlast_h = {}, dlast_c = {};  // sentences x width, or none: 0
  OutputOf<Device> dgates;                     // rows x 4 width, set; may overwrite the forward gates
  SinkOf<Device> dh0 = {}, dc0 = {};           // sentences x width, or none
};

template <class Device, std::size_t Ways>
void lstm(Device& device, const std::array<LstmArgs<Device>, Ways>& ways) {
  for (const auto& way : ways) lstm(device, way);
}
template <class Device, std::size_t Ways>
void lstm_gradient(Device& device, const std::array<LstmGradientArgs<Device>, Ways>& ways) {
  for (const auto& way : ways) lstm_gradient(device, way);
}

// lstm_cell   one step of an LSTM layer, from its input to its states; has no gradient:   gates = x Wᵀ + b, then lstm
//
// Used by decoder steps; torch.nn.LSTMCell. Devices without a kernel for it run two ops.

template <class Device>
struct LstmCellArgs {
  InputOf<Device> x;                    // rows x in
  InputOf<Device> input;                // 4 width x in: W
  const typename Device::Scalar* bias;  // 4 width
  LstmArgs<Device> step;  // sentence i is row i; keep = false, gates are scratch memory, with last_h and last_c
};

/// The step as two ops.
template <class Device>
void product_and_lstm(Device& device, const LstmCellArgs<Device>& args) {
  linear(device, {.x = args.x, .weight = args.input, .bias = args.bias, .y = args.step.gates});
  lstm(device, args.step);
}

template <class Device>
void lstm_cell(Device& device, const LstmCellArgs<Device>& args) {
  product_and_lstm(device, args);
}

// The decoder of an input-feeding model over a batch: all steps of all sentences in one op. Step t of a sentence is row
// r:
//
//   input_feeding            layer 0:  (i, f, g, o) = gates₀[r] + a' Fᵀ + h₀' R₀ᵀ;   a': a of step t - 1, F: columns of W₀
//                            layer l:  (i, f, g, o) = bₗ + dropout(hₗ₋₁) Wₗᵀ + hₗ' Rₗᵀ;   cₗ, hₗ as in lstm
//                            h = h of the last layer;   p = softmax(scale * K h),   c = p V,   a = dropout(tanh(M [h; c]))
//   input_feeding_gradient   for each row the gradients of its gates and M [h; c] before their activations, and of c
//
// Initial states are 0. The caller computes whatever does not depend on the previous step, for all rows at once. Before the
// op: the embeddings' part of the first layer's gates. After its gradient: the gradients of all weights, as products over
// all rows with `below`, `before` and `seen`; and the gradients of K and V, as those of attention with queries h
// (ops/attention.hpp). A score that transforms queries transforms the keys instead: (U h) · k = h · (Uᵀ k). V may have
// more columns than M reads: they are averaged too, but M ignores them. Sentences advance together: at step t the active
// ones are a prefix of `order`. Luong et al. 2015, sections 3.1 and 3.3.

/// One layer of the decoder's LSTM.
template <class Device>
struct InputFeedingLayer {
  InputOf<Device> input;                          // 4 width x width: F or Wₗ
  InputOf<Device> recurrent;                      // 4 width x width: Rₗ
  const typename Device::Scalar* bias = nullptr;  // 4 width; layer 0: null, the gates include it
  Dropout dropout = {};                           // of the layer's input: row, column of `below`; layer 0: none
  OutputOf<Device> gates;                         // rows x 4 width; in, layer 0: the embeddings' part; out: activated
  OutputOf<Device> c;                             // rows x width
  OutputOf<Device> below;                         // rows x width: the layer's input: a', or dropout(hₗ₋₁)
  OutputOf<Device> before;                        // rows x width: hₗ'
};

template <class Device>
struct InputFeedingArgs {
  static constexpr int kMostLayers = 8;
  Ragged rows;                // of the target
  const std::int32_t* order;  // sentences by decreasing length
  int layers = 1;
  InputFeedingLayer<Device> layer[kMostLayers];
  InputOf<Device> keys;        // source rows x width
  InputOf<Device> values;      // source rows x value width
  Ragged source;               // the same number of sentences
  double scale = 1;            // of scores
  InputOf<Device> mix;         // width x (width + the columns of V that M reads): M
  Dropout dropout = {};        // of a
  OutputOf<Device> seen;       // rows x (width + value width): h and c
  OutputOf<Device> fed;        // rows x width: a
  typename Device::Real* lse;  // rows: log-sum-exp of the scores

  ATTN_BOTH constexpr Index width() const { return fed.cols; }
  ATTN_BOTH constexpr Index context() const { return mix.cols - fed.cols; }  // columns of c that M reads
};

template <class Device>
struct InputFeedingGradientArgs {
  InputFeedingArgs<Device> forward;  // its gates become their gradients
  InputOf<Device> dfed = {};         // rows x width, or empty: 0
  OutputOf<Device> dcontext;         // rows x value width; in: contributions to dc from other ops; out: the total
  OutputOf<Device> dmix;             // rows x width, set: gradient of M [h; c]
};

}  // namespace attn
