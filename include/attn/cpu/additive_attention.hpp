#pragma once
#include <limits>

#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/additive_attention.hpp"

namespace attn {

namespace cpu {

/// The queries and keys of one sentence.
template <class T>
struct AdditiveSentence {
  const AdditiveAttentionArgs<Cpu<T>>& args;
  Index first_query, first_key, queries, keys;

  AdditiveSentence(const AdditiveAttentionArgs<Cpu<T>>& a, Index sentence)
      : args(a),
        first_query(a.queries.begin[sentence]),
        first_key(a.keys.begin[sentence]),
        queries(a.queries.length(sentence)),
        keys(a.keys.length(sentence)) {}

  Index width() const { return args.q.cols; }
  Index visible(Index query) const { return args.causal ? std::clamp<Index>(keys - queries + query + 1, 0, keys) : keys; }

  /// Returns the score of a query and a key, and writes T_ij to `squashed`.
  T score(Index query, Index key, T* squashed) const {
    auto t = array(squashed, width());
    t = (row_array(args.q, first_query + query) + row_array(args.k, first_key + key)).tanh();
    return (t * array(args.u, width())).sum();
  }
};

}  // namespace cpu

template <class T>
void additive_attention(Cpu<T>& device, const AdditiveAttentionArgs<Cpu<T>>& args) {
  refuse_lists("additive_attention", args.keys);
  device.parallel(args.queries.count, [&](Index task, int thread) {
    const cpu::AdditiveSentence<T> sentence(args, task);
    T* squashed = device.workspace(thread, sentence.width() + sentence.keys);
    T* scores = squashed + sentence.width();
    for (Index i = 0; i < sentence.queries; ++i) {
      const Index row = sentence.first_query + i, visible = sentence.visible(i);
      auto y = cpu::row_array(args.y, row);
      y.setZero();
      args.lse[row] = -std::numeric_limits<T>::infinity();
      if (visible == 0) continue;
      for (Index j = 0; j < visible; ++j) scores[j] = sentence.score(i, j, squashed);
      auto p = cpu::array(scores, visible);
      const T most = p.maxCoeff();
      p = (p - most).exp();
      const T sum = p.sum();
      args.lse[row] = most + std::log(sum);
      for (Index j = 0; j < visible; ++j) y += scores[j] / sum * cpu::row_array(args.v, sentence.first_key + j);
    }
  });
}

template <class T>
void additive_attention_gradient(Cpu<T>& device, const AdditiveAttentionGradientArgs<Cpu<T>>& args) {
  refuse_lists("additive_attention_gradient", args.forward.keys);
  const AdditiveAttentionArgs<Cpu<T>>& f = args.forward;
  const Index width = f.q.cols;
  const Matrix<T> parts(device.results(f.queries.count * width), f.queries.count, width);  // of du, one row per sentence
  device.parallel(f.queries.count, [&](Index task, int thread) {
    const cpu::AdditiveSentence<T> sentence(f, task);
    const auto dk = args.dk.to.row_range(sentence.first_key, sentence.keys);
    const auto dv = args.dv.to.row_range(sentence.first_key, sentence.keys);
    const auto dq = args.dq.to.row_range(sentence.first_query, sentence.queries);
    // Clear all before adding anything: queries, keys and values may share a matrix, and so may their gradients.
    if (!args.dq.add) cpu::clear(dq);
    if (!args.dk.add) cpu::clear(dk);
    if (!args.dv.add) cpu::clear(dv);
    auto du = cpu::row_array(parts, task);
    du.setZero();
    T* space = device.workspace(thread, (sentence.keys + 1) * width + 2 * sentence.keys);
    const Matrix<T> squashed(space, sentence.keys, width);
    auto sum = cpu::array(squashed.row(sentence.keys), width);
    const auto u = cpu::array(f.u, width);
    T* weights = squashed.row(sentence.keys + 1);
    T* dweights = weights + sentence.keys;
    for (Index i = 0; i < sentence.queries; ++i) {
      const Index row = sentence.first_query + i, visible = sentence.visible(i);
      if (visible == 0) continue;
      const auto dy = cpu::row_array(args.dy, row);
      for (Index j = 0; j < visible; ++j) {
        weights[j] = std::exp(sentence.score(i, j, squashed.row(j)) - f.lse[row]);
        dweights[j] = (dy * cpu::row_array(f.v, sentence.first_key + j)).sum();
        cpu::row_array(dv, j) += weights[j] * dy;
      }
      auto p = cpu::array(weights, visible), dp = cpu::array(dweights, visible);
      dp = (p * (dp - (p * dp).sum())).eval();  // dS
      sum.setZero();
      for (Index j = 0; j < visible; ++j) {
        auto t = cpu::row_array(squashed, j);
        du += dweights[j] * t;
        t = dweights[j] * (u - u * t * t);
        cpu::row_array(dk, j) += t;
        sum += t;
      }
      cpu::row_array(dq, i) += sum;
    }
  });
  auto du = cpu::array(args.du, width);
  for (Index i = 0; i < parts.rows; ++i) du += cpu::row_array(parts, i);
}

template <class T>
void additive_attention_weights(Cpu<T>& device, const AdditiveAttentionWeightsArgs<Cpu<T>>& args) {
  refuse_lists("additive_attention_weights", args.forward.keys);
  const AdditiveAttentionArgs<Cpu<T>>& f = args.forward;
  device.parallel(f.queries.count, [&](Index task, int thread) {
    const cpu::AdditiveSentence<T> sentence(f, task);
    T* squashed = device.workspace(thread, sentence.width());
    for (Index i = 0; i < sentence.queries; ++i) {
      const Index row = sentence.first_query + i, visible = sentence.visible(i);
      auto weights = cpu::row_array(args.weights, row);
      weights.setZero();
      for (Index j = 0; j < visible; ++j) weights[j] = std::exp(sentence.score(i, j, squashed) - f.lse[row]);
    }
  });
}

}  // namespace attn
