#pragma once
#include "attn/core/ragged.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/no_backend.hpp"

// The decoder of an input-feeding model over a batch, all steps of all sentences in one op. Step t of a sentence, whose row
// is r:
//
//   input_feeding            layer 0:  (i, f, g, o) = gates₀[r] + a' Fᵀ + h₀' R₀ᵀ;   a': of step t - 1, F: its columns of W₀
//                            layer l:  (i, f, g, o) = bₗ + dropout(hₗ₋₁) Wₗᵀ + hₗ' Rₗᵀ;   cₗ, hₗ as in ops/lstm.hpp
//                            h = that of the last layer;   p = softmax(scale * K h),   c = p V,   a = dropout(tanh(M [h; c]))
//   input_feeding_gradient   for each row the gradients of its gates and of its M [h; c] before their activations, and of c
//
// All starts with 0. What does not depend on the step before is done outside, for all rows at once. Before the op: what the
// first layer's gates get from the words. After its gradient: all weights' gradients, which are products over all rows with
// what the op keeps (`below`, `before`, `seen`), and the gradients of K and V, which are those of attention with queries h
// (ops/attention.hpp). Where the score transforms queries, the transform has gone into the keys: (U h) · k = h · (Uᵀ k). V
// may have more columns than M reads: these are averaged along with the others and fed to nothing. Sentences advance
// together: at step t the active ones are a prefix of `order`. Luong et al. 2015, sections 3.1 and 3.3.

namespace attn {

/// One layer of the decoder's LSTM.
template <class Device>
struct InputFeedingLayer {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> input;      // 4 width x width: F or Wₗ
  Matrix<const Scalar> recurrent;  // 4 width x width: Rₗ
  const Scalar* bias = nullptr;    // 4 width; layer 0: none, it is in the gates
  Dropout dropout = {};            // of what it reads: row, column of `below`; layer 0: none
  Matrix<Scalar> gates;            // rows x 4 width; in: what the words give, in layer 0; out: activated
  Matrix<Scalar> c;                // rows x width
  Matrix<Scalar> below;            // rows x width: what it read: a', or dropout(hₗ₋₁)
  Matrix<Scalar> before;           // rows x width: hₗ'
};

template <class Device>
struct InputFeedingArgs {
  using Scalar = typename Device::Scalar;
  static constexpr int kMostLayers = 8;
  Ragged rows;                // of the target
  const std::int32_t* order;  // its sentences by falling length
  int layers = 1;
  InputFeedingLayer<Device> layer[kMostLayers];
  Matrix<const Scalar> keys;    // source rows x width
  Matrix<const Scalar> values;  // source rows x value width
  Ragged source;                // as many sentences
  double scale = 1;             // of scores
  Matrix<const Scalar> mix;     // width x (width + the values' columns that it reads): M
  Dropout dropout = {};         // of a
  Matrix<Scalar> seen;          // rows x (width + value width): h and c
  Matrix<Scalar> fed;           // rows x width: a
  typename Device::Real* lse;   // rows: log-sum-exp of the scores

  ATTN_BOTH constexpr Index width() const { return fed.cols; }
  ATTN_BOTH constexpr Index context() const { return mix.cols - fed.cols; }  // columns of c that M reads
};

template <class Device>
struct InputFeedingGradientArgs {
  using Scalar = typename Device::Scalar;
  InputFeedingArgs<Device> forward;  // its gates become their gradients
  Matrix<const Scalar> dfed = {};    // rows x width, or none: 0
  Matrix<Scalar> dcontext;           // rows x value width; in: of c from elsewhere; out: all of it
  Matrix<Scalar> dmix;               // rows x width, set: of M [h; c]
};

template <class Device>
void input_feeding(Device&, const InputFeedingArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void input_feeding_gradient(Device&, const InputFeedingGradientArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
