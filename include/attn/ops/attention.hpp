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
//
// The keys of attention may be listed (core/ragged.hpp) where no sentence has more than one query, nothing is dropped, and
// heads have up to `widest_listed` columns. Gradients and weights want rows that lie together.

namespace attn {

inline constexpr int widest_listed = 128;  // columns of a head whose keys may be listed

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
  bool keys_first = false;     // keys and values are older than the op that gives the queries: a device may read them ahead
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

/// Whether the keys of this attention may be listed.
template <class Device>
bool may_list_keys(const AttentionArgs<Device>& args) {
  return args.queries.longest <= 1 && !args.dropout.active() && args.q.cols <= widest_listed * args.heads &&
         args.v.cols <= widest_listed * args.heads;
}

/// What every backend's attention begins with.
template <class Device>
void check_lists(const AttentionArgs<Device>& args) {
  refuse_lists("attention", args.queries);
  if (!may_list_keys(args))
    refuse_lists("attention of several queries a sentence, with dropout, or in wide heads", args.keys);
}

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
