#pragma once
#include "attn/ops/dropout.hpp"
#include "attn/ops/operands.hpp"

// Multi-head attention over ragged sentences. Head h owns columns h * d to (h + 1) * d - 1, with d = width / heads. Values,
// and so results, may have a different width than keys. For each sentence:
//
//   attention            P = softmax(scale * Q Kᵀ),  Y = dropout(P) V
//   attention_gradient   dV = dropout(P)ᵀ dY,  dP = dropout(dY Vᵀ),  dS = P * (dP - rowsum(P * dP)),
//                        dQ = scale * dS K,  dK = scale * dSᵀ Q
//   attention_weights    P, recomputed from the log-sum-exps for inspection
//
// Causal: with n queries and m keys in a sentence, query i sees keys 0 to m - n + i. The same formula covers training
// (n = m) and decoding (n = 1, keys from a cache). A query without visible keys gives 0. P is never stored, only each row's
// log-sum-exp.
//
// The forward op accepts keys with row_indices (core/ragged.hpp) if no sentence has more than one query, dropout is off,
// and heads have at most `widest_listed` columns. Gradients and weights need contiguous rows.
//
// With a vector u, the score is a small network instead, for one head without dropout. The caller projects queries and keys
// to the network's width (one product each). With T_ij = tanh(q_i + k_j):
//
//   attention            S_ij = u · T_ij,  P = softmax(S),  Y = P V
//   attention_gradient   dS and dV as above,  du += sum over i, j of dS_ij T_ij,  G_ij = dS_ij u * (1 - T_ij²),
//                        dq_i = sum over j of G_ij,  dk_j = sum over i of G_ij
//
// T is not stored either. Bahdanau et al. 2014.

namespace attn {

inline constexpr int widest_listed = 128;  // maximum head width for keys with row_indices

template <class Device>
struct AttentionArgs {
  InputOf<Device> q;                           // query rows x width
  InputOf<Device> k;                           // key rows x width
  InputOf<Device> v;                           // key rows x value width
  const typename Device::Scalar* u = nullptr;  // width, or none
  Ragged queries, keys;                        // the same number of sentences
  int heads = 1;
  double scale = 1;
  bool causal = false;
  bool prefetch_keys = false;  // keys and values predate the op that computes q: a device may prefetch them
  Dropout dropout = {};        // of the weights; row h * query rows + i, column key
  OutputOf<Device> y;          // query rows x value width
  typename Device::Real* lse;  // query rows x heads
};

template <class Device>
struct AttentionGradientArgs {
  AttentionArgs<Device> forward;
  InputOf<Device> dy;                   // query rows x value width
  SinkOf<Device> dq;                    // query rows x width
  SinkOf<Device> dk;                    // key rows x width
  SinkOf<Device> dv;                    // key rows x value width
  typename Device::Real* du = nullptr;  // width, accumulates; only with u
};

template <class Device>
struct AttentionWeightsArgs {
  AttentionArgs<Device> forward;
  /// Row h * query rows + i is query i in head h. Column j is key j of its sentence; 0 for keys that it does not see.
  Matrix<typename Device::Real> weights;  // heads * query rows x longest key count
};

/// Whether the keys of this attention may have row_indices.
template <class Device>
bool may_list_keys(const AttentionArgs<Device>& args) {
  return args.u == nullptr && args.queries.longest <= 1 && !args.dropout.active() &&
         args.q.cols <= widest_listed * args.heads && args.v.cols <= widest_listed * args.heads;
}

/// Every backend's attention calls this first.
template <class Device>
void check_lists(const AttentionArgs<Device>& args) {
  refuse_lists("attention", args.queries);
  if (!may_list_keys(args))
    refuse_lists("attention with several queries per sentence, dropout, wide heads or u", args.keys);
}

}  // namespace attn
