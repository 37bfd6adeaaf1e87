#pragma once
#include "attn/cpu/device.hpp"
#include "attn/cpu/dropout.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/cpu/gemm.hpp"
#include "attn/cpu/one_query.hpp"
#include "attn/ops/attention.hpp"

namespace attn {

namespace cpu {

inline constexpr Index kQueryBlock = 64;  // queries per block: memory grows linearly with the keys

/// One head of one sentence, with its slices of the operands.
template <class T>
struct Head {
  const AttentionArgs<Cpu<T>>& args;
  Index head, first_query, first_key, queries, keys;

  Head(const AttentionArgs<Cpu<T>>& a, Index sentence, Index h = 0)
      : args(a),
        head(h),
        first_query(a.queries.begin[sentence]),
        first_key(a.keys.begin[sentence]),
        queries(a.queries.length(sentence)),
        keys(a.keys.length(sentence)) {}

  /// The number of keys that a query sees.
  Index visible(Index query) const { return args.causal ? std::clamp<Index>(keys - queries + query + 1, 0, keys) : keys; }
  template <class U>
  Matrix<U> of_queries(Matrix<U> m, Index from, Index count) const {
    return columns(m.row_range(first_query + from, count));
  }
  template <class U>
  Matrix<U> of_keys(Matrix<U> m, Index count) const {
    return columns(m.row_range(first_key, count));
  }
  template <class U>
  Matrix<U> columns(Matrix<U> m) const {
    const Index width = m.cols / args.heads;  // of values may differ from that of keys
    return m.columns(head * width, width);
  }
  T& lse(Index query) const { return args.lse[(first_query + query) * args.heads + head]; }

  /// The dropout factors of a query's weights.
  void dropout_factors(Index query, Index count, T* out) const {
    factors(args.dropout, head * args.q.rows + first_query + query, 0, count, out);
  }

  /// scores = scale Q Kᵀ for a block of queries over all keys that any of them sees.
  void scores(Cpu<T>& device, int thread, Index from, Matrix<T> out) const {
    clear(out);
    gemm<false, true>(device, thread, of_queries(args.q, from, out.rows), of_keys(args.k, out.cols), out, T(args.scale));
  }
  /// With u: returns the score of a query and a key, and writes T_ij to `squashed`.
  T score(Index query, Index key, T* squashed) const {
    auto t = array(squashed, args.q.cols);
    t = (row_array(args.q, first_query + query) + row_array(args.k, first_key + key)).tanh();
    return (t * array(args.u, args.q.cols)).sum();
  }

  /// Clears gradients that are set. Call it before adding anything: q, k and v may share a matrix, and so may their
  /// gradients.
  void clear_gradients(const AttentionGradientArgs<Cpu<T>>& gradients) const {
    if (!gradients.dq.add) clear(of_queries(gradients.dq.to, 0, queries));
    if (!gradients.dk.add) clear(of_keys(gradients.dk.to, keys));
    if (!gradients.dv.add) clear(of_keys(gradients.dv.to, keys));
  }
};

template <class T>
void additive_attention(Cpu<T>& device, const AttentionArgs<Cpu<T>>& args) {
  const Index width = args.q.cols;
  device.parallel(args.queries.count, [&](Index task, int thread) {
    const Head<T> sentence(args, task);
    T* squashed = device.workspace(thread, width + sentence.keys);
    T* scores = squashed + width;
    for (Index i = 0; i < sentence.queries; ++i) {
      const Index row = sentence.first_query + i, visible = sentence.visible(i);
      auto y = row_array(args.y, row);
      y.setZero();
      for (Index j = 0; j < visible; ++j) scores[j] = sentence.score(i, j, squashed);
      args.lse[row] = softmax_in_place(scores, visible);
      for (Index j = 0; j < visible; ++j) y += scores[j] * row_array(args.v, sentence.first_key + j);
    }
  });
}

template <class T>
void additive_attention_gradient(Cpu<T>& device, const AttentionGradientArgs<Cpu<T>>& args) {
  const AttentionArgs<Cpu<T>>& f = args.forward;
  const Index width = f.q.cols;
  const Matrix<T> parts(device.results(f.queries.count * width), f.queries.count, width);  // of du, one row per sentence
  device.parallel(f.queries.count, [&](Index task, int thread) {
    const Head<T> sentence(f, task);
    const auto dk = sentence.of_keys(args.dk.to, sentence.keys), dv = sentence.of_keys(args.dv.to, sentence.keys);
    const auto dq = sentence.of_queries(args.dq.to, 0, sentence.queries);
    sentence.clear_gradients(args);
    auto du = row_array(parts, task);
    du.setZero();
    T* space = device.workspace(thread, (sentence.keys + 1) * width + 2 * sentence.keys);
    const Matrix<T> squashed(space, sentence.keys, width);
    auto sum = array(squashed.row(sentence.keys), width);
    const auto u = array(f.u, width);
    T* weights = squashed.row(sentence.keys + 1);
    T* dweights = weights + sentence.keys;
    for (Index i = 0; i < sentence.queries; ++i) {
      const Index row = sentence.first_query + i, visible = sentence.visible(i);
      if (visible == 0) continue;
      const auto dy = row_array(args.dy, row);
      for (Index j = 0; j < visible; ++j) {
        weights[j] = std::exp(sentence.score(i, j, squashed.row(j)) - f.lse[row]);
        dweights[j] = (dy * row_array(f.v, sentence.first_key + j)).sum();
        row_array(dv, j) += weights[j] * dy;
      }
      auto p = array(weights, visible), dp = array(dweights, visible);
      dp = (p * (dp - (p * dp).sum())).eval();  // dS
      sum.setZero();
      for (Index j = 0; j < visible; ++j) {
        auto t = row_array(squashed, j);
        du += dweights[j] * t;
        t = dweights[j] * (u - u * t * t);
        row_array(dk, j) += t;
        sum += t;
      }
      row_array(dq, i) += sum;
    }
  });
  auto du = array(args.du, width);
  for (Index i = 0; i < parts.rows; ++i) du += row_array(parts, i);
}

template <class T>
void additive_attention_weights(Cpu<T>& device, const AttentionWeightsArgs<Cpu<T>>& args) {
  const AttentionArgs<Cpu<T>>& f = args.forward;
  device.parallel(f.queries.count, [&](Index task, int thread) {
    const Head<T> sentence(f, task);
    T* squashed = device.workspace(thread, f.q.cols);
    for (Index i = 0; i < sentence.queries; ++i) {
      const Index row = sentence.first_query + i, visible = sentence.visible(i);
      auto weights = row_array(args.weights, row);
      weights.setZero();
      for (Index j = 0; j < visible; ++j) weights[j] = std::exp(sentence.score(i, j, squashed) - f.lse[row]);
    }
  });
}

}  // namespace cpu

template <class T>
void attention(Cpu<T>& device, const AttentionArgs<Cpu<T>>& args) {
  check_lists(args);
  if (args.u != nullptr) return cpu::additive_attention(device, args);
  if (args.queries.longest <= 1 && !args.dropout.active()) return cpu::attend_one_query(device, args);
  device.parallel(args.queries.count * args.heads, [&](Index task, int thread) {
    const cpu::Head<T> head(args, task / args.heads, task % args.heads);
    T* space = device.workspace(thread, (cpu::kQueryBlock + 1) * head.keys, 1);
    for (Index from = 0; from < head.queries; from += cpu::kQueryBlock) {
      const Index count = std::min(cpu::kQueryBlock, head.queries - from), seen = head.visible(from + count - 1);
      const Matrix<T> weights(space, count, seen);
      head.scores(device, thread, from, weights);
      for (Index i = 0; i < count; ++i) {
        const Index visible = head.visible(from + i);
        std::fill(weights.row(i) + visible, weights.row(i) + seen, T(0));
        head.lse(from + i) = cpu::softmax_in_place(weights.row(i), visible);
        if (args.dropout.active()) {
          T* factors = space + cpu::kQueryBlock * head.keys;
          head.dropout_factors(from + i, visible, factors);
          cpu::array(weights.row(i), visible) *= cpu::array(factors, visible);
        }
      }
      const auto y = head.of_queries(args.y, from, count);
      cpu::clear(y);
      cpu::gemm(device, thread, Matrix<const T>(weights), head.of_keys(args.v, seen), y);
    }
  });
}

template <class T>
void attention_gradient(Cpu<T>& device, const AttentionGradientArgs<Cpu<T>>& args) {
  const AttentionArgs<Cpu<T>>& f = args.forward;
  refuse_lists("attention_gradient", f.keys);
  if (f.u != nullptr) return cpu::additive_attention_gradient(device, args);
  device.parallel(f.queries.count * f.heads, [&](Index task, int thread) {
    const cpu::Head<T> head(f, task / f.heads, task % f.heads);
    const auto dk = head.of_keys(args.dk.to, head.keys), dv = head.of_keys(args.dv.to, head.keys);
    head.clear_gradients(args);
    T* space = device.workspace(thread, (3 * cpu::kQueryBlock + 1) * head.keys, 1);
    for (Index from = 0; from < head.queries; from += cpu::kQueryBlock) {
      const Index count = std::min(cpu::kQueryBlock, head.queries - from), seen = head.visible(from + count - 1);
      const auto q = head.of_queries(f.q, from, count);
      const auto dy = head.of_queries(args.dy, from, count);
      const auto dq = head.of_queries(args.dq.to, from, count);
      const auto k = head.of_keys(f.k, seen), v = head.of_keys(f.v, seen);
      if (seen == 0) continue;
      const Matrix<T> weights(space, count, seen);                                      // P, then dS
      const Matrix<T> dropped(space + cpu::kQueryBlock * head.keys, count, seen);       // dropout(P)
      const Matrix<T> dweights(space + 2 * cpu::kQueryBlock * head.keys, count, seen);  // dP
      head.scores(device, thread, from, weights);
      cpu::clear(dweights);
      cpu::gemm<false, true>(device, thread, dy, v, dweights);
      for (Index i = 0; i < count; ++i) {
        const Index visible = head.visible(from + i);
        auto p = cpu::array(weights.row(i), visible), dp = cpu::array(dweights.row(i), visible);
        auto drop = cpu::array(dropped.row(i), visible);
        std::fill(weights.row(i) + visible, weights.row(i) + seen, T(0));
        std::fill(dropped.row(i) + visible, dropped.row(i) + seen, T(0));
        if (visible == 0) continue;
        p = (p - head.lse(from + i)).exp();
        if (f.dropout.active()) {
          head.dropout_factors(from + i, visible, drop.data());
          dp *= drop;
          drop *= p;
        } else {
          drop = p;
        }
        p *= dp - (p * dp).sum();
      }
      cpu::gemm<true, false>(device, thread, Matrix<const T>(dropped), dy, dv.row_range(0, seen));
      cpu::gemm(device, thread, Matrix<const T>(weights), k, dq, T(f.scale));
      cpu::gemm<true, false>(device, thread, Matrix<const T>(weights), q, dk.row_range(0, seen), T(f.scale));
    }
  });
}

template <class T>
void attention_weights(Cpu<T>& device, const AttentionWeightsArgs<Cpu<T>>& args) {
  const AttentionArgs<Cpu<T>>& f = args.forward;
  refuse_lists("attention_weights", f.keys);
  if (f.u != nullptr) return cpu::additive_attention_weights(device, args);
  device.parallel(f.queries.count * f.heads, [&](Index task, int thread) {
    const cpu::Head<T> head(f, task / f.heads, task % f.heads);
    const auto rows = args.weights.row_range(head.head * f.q.rows + head.first_query, head.queries);
    for (Index i = 0; i < head.queries; ++i) {
      const Index visible = head.visible(i);
      std::fill(rows.row(i) + visible, rows.row(i) + rows.cols, T(0));
      if (visible == 0) continue;
      head.scores(device, thread, i, rows.row_range(i, 1).columns(0, visible));
      auto row = cpu::array(rows.row(i), visible);
      row = (row - head.lse(i)).exp();
    }
  });
}

}  // namespace attn
