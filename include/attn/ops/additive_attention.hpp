#pragma once
#include "attn/core/matrix.hpp"
#include "attn/core/ragged.hpp"

// Attention with a small network as its score. The caller projects queries and keys to the network's width (one product
// each). For each sentence, with T_ij = tanh(q_i + k_j) and the last layer u of the network:
//
//   additive_attention            S_ij = u · T_ij,  P = softmax(S),  Y = P V
//   additive_attention_gradient   dV = Pᵀ dY,  dP = dY Vᵀ,  dS = P * (dP - rowsum(P * dP)),
//                                 du += sum over i, j of dS_ij T_ij,  G_ij = dS_ij u * (1 - T_ij²),
//                                 dq_i = sum over j of G_ij,  dk_j = sum over i of G_ij
//   additive_attention_weights    P, recomputed from the log-sum-exps for inspection
//
// Causal as in ops/attention.hpp: with n queries and m keys in a sentence, query i sees keys 0 to m - n + i. A query
// without visible keys gives 0. T and P are not stored, only each row's log-sum-exp. Bahdanau et al. 2014.

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
  /// Column j is key j of the sentence; 0 for keys that the query does not see.
  Matrix<typename Device::Real> weights;  // query rows x longest key count
};

}  // namespace attn
