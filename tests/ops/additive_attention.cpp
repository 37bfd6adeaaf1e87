#include "attn/ops/attention.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/attention_cases.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/threads.hpp"

using attn::AttentionArgs;
using attn::Cpu;
using attn::Index;

namespace {

struct Gradients {
  Numbers dq, dk, du, dv;
};

/// Additive attention over random operands, in the layout of a case; keys are as wide as its heads, values as all of them.
template <class T>
struct Additive {
  const AttentionCase& shape;
  Cpu<T>& device;
  Layout<Cpu<T>> queries, keys;
  Tensor<Cpu<T>> q, k, u, v, dy, y, lse;
  AttentionArgs<Cpu<T>> args;

  Additive(Cpu<T>& on, const AttentionCase& of)
      : shape(of),
        device(on),
        queries(on, of.queries),
        keys(on, of.keys, of.spare),
        q(random(queries.rows(), of.head_width, 1)),
        k(random(keys.rows(), of.head_width, 2)),
        u(on, 1, of.head_width, random_numbers(of.head_width, 3, 2)),
        v(random(keys.rows(), of.width(), 4)),
        dy(random(queries.rows(), of.width(), 5)),
        y(on, queries.rows(), of.width(), kUnset, of.gap),
        lse(on, queries.rows(), 1),
        args{.q = q,
             .k = k,
             .v = v,
             .u = u.data(),
             .queries = queries,
             .keys = keys,
             .causal = of.causal,
             .y = y,
             .lse = lse.data()} {}

  Numbers forward() {
    attention(device, args);
    CHECK(y.outside_untouched());
    CHECK(lse.outside_untouched());
    return y.read();
  }
  Gradients backward(bool add = false, double start = kUnset) {
    Tensor<Cpu<T>> dq(device, q.rows(), q.cols(), start, shape.gap), dk(device, k.rows(), k.cols(), start, shape.gap),
        dv(device, v.rows(), v.cols(), start, shape.gap), du(device, 1, u.cols(), 3.0);
    attention_gradient(device,
                       {.forward = args, .dy = dy, .dq = {dq, add}, .dk = {dk, add}, .dv = {dv, add}, .du = du.data()});
    CHECK(dq.outside_untouched());
    CHECK(dk.outside_untouched());
    CHECK(dv.outside_untouched());
    Numbers sums = du.read();
    for (double& sum : sums) sum -= 3;  // it accumulates
    return {dq.read(), dk.read(), sums, dv.read()};
  }
  Numbers everything() {
    const Numbers values = forward();
    auto [dq, dk, du, dv] = backward(true, 0.5);
    return joined({values, dq, dk, du, dv});
  }

 private:
  Tensor<Cpu<T>> random(Index rows, Index cols, std::uint64_t seed) const {
    return {device, rows, cols, random_numbers(rows * cols, seed), shape.gap};
  }
};

/// The contract's formula, one number at a time: results and weights.
std::pair<Numbers, Numbers> by_hand(const Additive<double>& op) {
  const Index width = op.q.cols(), longest = op.args.keys.longest;
  Numbers y(static_cast<std::size_t>(op.v.cols() * op.q.rows())), p(static_cast<std::size_t>(op.q.rows() * longest));
  const auto q = op.q.view(), k = op.k.view(), u = op.u.view(), v = op.v.view();
  for (Index s = 0; s < op.args.queries.count; ++s)
    for (Index i = 0; i < op.args.queries.length(s); ++i) {
      const Index row = op.args.queries.begin[s] + i, first = op.args.keys.begin[s], m = op.args.keys.length(s);
      const Index seen = op.shape.causal ? std::clamp<Index>(m - op.args.queries.length(s) + i + 1, 0, m) : m;
      Numbers weights;
      double sum = 0;
      for (Index j = 0; j < seen; ++j) {
        double score = 0;
        for (Index c = 0; c < width; ++c) score += u(0, c) * std::tanh(q(row, c) + k(first + j, c));
        weights.push_back(std::exp(score));
        sum += weights.back();
      }
      for (Index j = 0; j < seen; ++j) {
        const double weight = weights[static_cast<std::size_t>(j)] / sum;
        p[static_cast<std::size_t>(row * longest + j)] = weight;
        for (Index c = 0; c < v.cols; ++c) y[static_cast<std::size_t>(row * v.cols + c)] += weight * v(first + j, c);
      }
    }
  return {y, p};
}

}  // namespace

TEST_CASE("additive_attention: outputs and weights of every shape match the formula") {
  Cpu<double> device(2);
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    Additive<double> op(device, shape);
    const auto [y, p] = by_hand(op);
    CHECK(distance(op.forward(), y) <= 1e-12);
    Tensor<Cpu<double>> weights(device, op.q.rows(), op.args.keys.longest);
    attention_weights(device, {op.args, weights});
    CHECK(distance(weights.read(), p) <= 1e-12);
  }
}

TEST_CASE("additive_attention: gradients of every shape match finite differences") {
  Cpu<double> device(2);
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    Additive<double> op(device, shape);
    const auto loss = [&] { return dot(op.dy.read(), op.forward()); };
    op.forward();
    const auto [dq, dk, du, dv] = op.backward(shape.spare > 0, shape.spare > 0 ? 0 : kUnset);
    check_gradient("q", op.q, dq, loss);
    check_gradient("k", op.k, dk, loss);
    check_gradient("u", op.u, du, loss);
    check_gradient("v", op.v, dv, loss);
  }
}

TEST_CASE("additive_attention: gradients overwrite or accumulate") {
  Cpu<double> device(2);
  for (const AttentionCase& shape : attention_cases()) {
    if (shape.spare > 0) continue;
    CAPTURE(shape.name);
    Additive<double> op(device, shape);
    op.forward();
    const auto [dq, dk, du, dv] = op.backward();
    const auto [more_dq, more_dk, same_du, more_dv] = op.backward(true, 2);
    CHECK(distance(more_dq, sum_of(dq, Numbers(dq.size(), 2))) <= 1e-12);
    CHECK(distance(more_dk, sum_of(dk, Numbers(dk.size(), 2))) <= 1e-12);
    CHECK(distance(more_dv, sum_of(dv, Numbers(dv.size(), 2))) <= 1e-12);
    CHECK(distance(same_du, du) <= 1e-12);
  }
}

TEST_CASE("additive_attention: float results are close to double results") {
  Cpu<double> wide(2);
  Cpu<float> narrow(2);
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    CHECK(distance(Additive<float>(narrow, shape).everything(), Additive<double>(wide, shape).everything()) <= 5e-5);
  }
}

TEST_CASE_TEMPLATE("additive_attention: results do not depend on the number of threads", T, float, double) {
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    check_threads<T>([&](Cpu<T>& device) { return Additive<T>(device, shape).everything(); });
  }
}

TEST_CASE("additive_attention: rejects keys listed by index") {
  Cpu<double> device(1);
  const AttentionCase shape{"", {1}, {2}, 1, 3};
  const std::int32_t list[2] = {1, 0};
  Additive<double> op(device, shape);
  op.forward();
  op.args.keys.row_indices = list;
  Tensor<Cpu<double>> weights(device, 1, 2);
  const auto refused = [](auto&& call) {
    return contains(error_of(call), "must be contiguous here, but are listed by index");
  };
  CHECK(refused([&] { op.forward(); }));
  CHECK(refused([&] { op.backward(); }));
  CHECK(refused([&] { attention_weights(device, {op.args, weights}); }));
}
