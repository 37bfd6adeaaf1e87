#pragma once
#include "attn/core/ragged.hpp"
#include "attn/ops/dropout.hpp"
#include "attn/ops/no_backend.hpp"

// Multi-head attention over ragged sentences. Head h owns columns h * d to (h + 1) * d, d = width / heads; values, and so
// the results, may be of another width than keys. For each sentence:
//
//   attention            P = softmax(scale * Q Kᵀ),  Y = dropout(P) V
//   attention_gradient   dV = dropout(P)ᵀ dY,  dP = dropout(dY Vᵀ),  dS = P * (dP - rowsum(P * dP)),
//                        dQ = scale * dS K,  dK = scale * dSᵀ Q
//   attention_weights    P itself, computed again from the log-sum-exps: for somebody to look at
//
// Causal: with n queries and m keys in a sentence, query i sees keys 0 to m - n + i; so training (n = m) and decoding
// (n = 1, keys from a cache) are one formula. A query that sees no key gives 0. The weights P are never stored: each row's
// log-sum-exp is.

namespace attn {

template <class Device>
struct AttentionArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> q;  // query rows x width
  Matrix<const Scalar> k;  // key rows x width
  Matrix<const Scalar> v;  // key rows x value width
  Ragged queries, keys;    // the same number of sentences
  int heads = 1;
  double scale = 1;
  bool causal = false;
  Dropout dropout = {};        // of the weights; row h * query rows + i, column key
  Matrix<Scalar> y;            // query rows x value width
  typename Device::Real* lse;  // query rows x heads
};

template <class Device>
struct AttentionGradientArgs {
  AttentionArgs<Device> forward;
  Matrix<const typename Device::Scalar> dy;  // query rows x value width
  Sink<typename Device::Scalar> dq;          // query rows x width
  Sink<typename Device::Scalar> dk;          // key rows x width
  Sink<typename Device::Scalar> dv;          // key rows x value width
};

template <class Device>
struct AttentionWeightsArgs {
  AttentionArgs<Device> forward;
  /// Row h * query rows + i is that of query i in head h, column j that of its sentence's key j; 0 beyond those it sees.
  Matrix<typename Device::Real> weights;  // heads * query rows x longest key count
};

template <class Device>
void attention(Device&, const AttentionArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void attention_gradient(Device&, const AttentionGradientArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void attention_weights(Device&, const AttentionWeightsArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
