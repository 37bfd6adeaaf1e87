#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/ops/operands.hpp"

// The decoder of an input-feeding model over a batch: all steps of all sentences in one op. Step t of a sentence is row
// r:
//
//   input_feeding            layer 0:  (i, f, g, o) = gates₀[r] + a' Fᵀ + h₀' R₀ᵀ;   a': a of step t - 1, F: columns of W₀
//                            layer l:  (i, f, g, o) = bₗ + dropout(hₗ₋₁) Wₗᵀ + hₗ' Rₗᵀ;   cₗ, hₗ as in ops/lstm.hpp
//                            h = h of the last layer;   p = softmax(scale * K h),   c = p V,   a = dropout(tanh(M [h; c]))
//   input_feeding_gradient   for each row the gradients of its gates and M [h; c] before their activations, and of c
//
// Initial states are 0. The caller computes whatever does not depend on the previous step, for all rows at once. Before the
// op: the embeddings' part of the first layer's gates. After its gradient: the gradients of all weights, as products over
// all rows with `below`, `before` and `seen`; and the gradients of K and V, as those of attention with queries h
// (ops/attention.hpp). A score that transforms queries transforms the keys instead: (U h) · k = h · (Uᵀ k). V may have
// more columns than M reads: they are averaged too, but M ignores them. Sentences advance together: at step t the active
// ones are a prefix of `order`. Luong et al. 2015, sections 3.1 and 3.3.

namespace attn {

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
