#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"
#include "attn/ops/no_backend.hpp"

// Attention whose score is a small network of its own. For each sentence, with queries and keys that were projected to the
// network's width before (one product each), T_ij = tanh(q_i + k_j) and u the network's last layer:
//
//   additive_attention            S_ij = u · T_ij,  P = softmax(S),  Y = P V
//   additive_attention_gradient   dV = Pᵀ dY,  dP = dY Vᵀ,  dS = P * (dP - rowsum(P * dP)),
//                                 du += sum over i, j of dS_ij T_ij,  G_ij = dS_ij u * (1 - T_ij²),
//                                 dq_i = sum over j of G_ij,  dk_j = sum over i of G_ij
//   additive_attention_weights    P itself, computed again from the log-sum-exps: for somebody to look at
//
// Causal as in ops/attention.hpp: with n queries and m keys in a sentence, query i sees keys 0 to m - n + i. A query that
// sees no key gives 0. Neither T nor P is stored; each row's log-sum-exp is. Bahdanau et al. 2014.

namespace attn {

template <class Device>
struct AdditiveAttentionArgs {
  using Scalar = typename Device::Scalar;
  Matrix<const Scalar> q;  // query rows x width
  Matrix<const Scalar> k;  // key rows x width
  const Scalar* u;         // width
  Matrix<const Scalar> v;  // key rows x value width
  Ragged queries, keys;    // the same number of sentences
  bool causal = false;
  Matrix<Scalar> y;            // query rows x value width
  typename Device::Real* lse;  // query rows
};

template <class Device>
struct AdditiveAttentionGradientArgs {
  using Scalar = typename Device::Scalar;
  AdditiveAttentionArgs<Device> forward;
  Matrix<const Scalar> dy;    // query rows x value width
  Sink<Scalar> dq;            // query rows x width
  Sink<Scalar> dk;            // key rows x width
  typename Device::Real* du;  // width, accumulates
  Sink<Scalar> dv;            // key rows x value width
};

template <class Device>
struct AdditiveAttentionWeightsArgs {
  AdditiveAttentionArgs<Device> forward;
  /// Column j is the sentence's key j; 0 beyond those that a query sees.
  Matrix<typename Device::Real> weights;  // query rows x longest key count
};

template <class Device>
void additive_attention(Device&, const AdditiveAttentionArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void additive_attention_gradient(Device&, const AdditiveAttentionGradientArgs<Device>&) {
  no_backend<Device>();
}
template <class Device>
void additive_attention_weights(Device&, const AdditiveAttentionWeightsArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
