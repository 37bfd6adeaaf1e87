#include "attn/ops/attention.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/attention_cases.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/reference.hpp"
#include "support/threads.hpp"

using attn::AttentionArgs;
using attn::Cpu;
using attn::Index;

namespace {

struct Gradients {
  Numbers dq, dk, dv;
};

/// Attention of a case over random operands, forward and backward.
template <class T>
struct Attention {
  const AttentionCase& shape;
  Cpu<T>& device;
  Layout<Cpu<T>> queries, keys;
  Tensor<Cpu<T>> q, k, v, dy, y, lse;
  AttentionArgs<Cpu<T>> args;

  Attention(Cpu<T>& on, const AttentionCase& of, double bound = 1)
      : shape(of),
        device(on),
        queries(on, of.queries),
        keys(on, of.keys, of.spare),
        q(random(queries.rows(), 1, bound)),
        k(random(keys.rows(), 2, bound)),
        v(random(keys.rows(), 3, bound)),
        dy(random(queries.rows(), 4, 1)),
        y(on, queries.rows(), of.width(), kUnset, of.gap),
        lse(on, queries.rows(), of.heads),
        args{.q = q,
             .k = k,
             .v = v,
             .queries = queries,
             .keys = keys,
             .heads = of.heads,
             .scale = 1 / std::sqrt(static_cast<float>(of.head_width)),
             .causal = of.causal,
             .dropout = {of.dropout, attn::key_of_seed(9)},
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
        dv(device, v.rows(), v.cols(), start, shape.gap);
    attention_gradient(device, {.forward = args, .dy = dy, .dq = {dq, add}, .dk = {dk, add}, .dv = {dv, add}});
    CHECK(dq.outside_untouched());
    CHECK(dk.outside_untouched());
    CHECK(dv.outside_untouched());
    return {dq.read(), dk.read(), dv.read()};
  }
  Numbers everything() {
    const Numbers values = forward();
    auto [dq, dk, dv] = backward(true, 0.5);  // add: the spare rows of a cache stay as they are
    Numbers sums = lse.read();
    for (double& sum : sums) sum = std::isinf(sum) ? -1e30 : sum;
    return joined({values, dq, dk, dv, sums});
  }
  /// How many keys query i of sentence s sees.
  Index visible(Index s, Index i) const {
    const Index m = args.keys.length(s), seen = shape.causal ? m - args.queries.length(s) + i + 1 : m;
    return std::clamp<Index>(seen, 0, m);
  }

 private:
  Tensor<Cpu<T>> random(Index rows, std::uint64_t seed, double bound) const {
    return {device, rows, shape.width(), random_numbers(rows * shape.width(), seed, bound), shape.gap};
  }
};

/// The contract's formula, one number at a time.
Numbers by_hand(const Attention<double>& op) {
  Numbers y(static_cast<std::size_t>(op.q.rows() * op.q.cols()));
  const auto q = op.q.view(), k = op.k.view(), v = op.v.view();
  const Index d = op.shape.head_width;
  for (Index s = 0; s < op.args.queries.count; ++s)
    for (Index h = 0; h < op.shape.heads; ++h)
      for (Index i = 0; i < op.args.queries.length(s); ++i) {
        const Index row = op.args.queries.begin[s] + i, first = op.args.keys.begin[s];
        std::vector<double> weights;
        double sum = 0;
        for (Index j = 0; j < op.visible(s, i); ++j) {
          double score = 0;
          for (Index c = h * d; c < (h + 1) * d; ++c) score += q(row, c) * k(first + j, c);
          weights.push_back(std::exp(score * static_cast<double>(op.args.scale)));
          sum += weights.back();
        }
        const auto drop = op.args.dropout.row(h * op.q.rows() + row);
        for (std::size_t j = 0; j < weights.size(); ++j)
          for (Index c = h * d; c < (h + 1) * d; ++c) {
            const double factor = op.args.dropout.active() ? static_cast<double>(drop(static_cast<std::uint32_t>(j))) : 1;
            y[static_cast<std::size_t>(row * op.q.cols() + c)] +=
                weights[j] / sum * factor * v(first + static_cast<Index>(j), c);
          }
      }
  return y;
}

}  // namespace

TEST_CASE("attention: every shape matches the formula") {
  Cpu<double> device(2);
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    Attention<double> op(device, shape);
    CHECK(distance(op.forward(), by_hand(op)) <= 1e-12);
  }
}

TEST_CASE("attention: float results are close to double results") {
  Cpu<double> wide(2);
  Cpu<float> narrow(2);
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    CHECK(distance(Attention<float>(narrow, shape).everything(), Attention<double>(wide, shape).everything()) <= 2e-5);
  }
}

TEST_CASE("attention: gradients of every shape match finite differences") {
  Cpu<double> device(2);
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    Attention<double> op(device, shape);
    const auto loss = [&] { return dot(op.dy.read(), op.forward()); };
    op.forward();
    const auto [dq, dk, dv] = op.backward(shape.spare > 0, shape.spare > 0 ? 0 : kUnset);
    check_gradient("q", op.q, dq, loss);
    check_gradient("k", op.k, dk, loss);
    check_gradient("v", op.v, dv, loss);
  }
}

TEST_CASE_TEMPLATE("attention: outputs and gradients match PyTorch", T, float, double) {
  const AttentionCase cases[] = {
      {"full", {5}, {5}, 2, 4}, {"causal", {5}, {5}, 2, 4, true}, {"cross", {3}, {6}, 2, 4}, {"one_key", {3}, {1}, 2, 4}};
  Cpu<T> device(2);
  for (const AttentionCase& shape : cases) {
    CAPTURE(shape.name);
    const std::string name = std::string("attention/") + shape.name + "/";
    Attention<T> op(device, shape);
    op.q.write(reference(name + "q"));
    op.k.write(reference(name + "k"));
    op.v.write(reference(name + "v"));
    op.dy.write(reference(name + "gradient/y"));
    CHECK(distance(op.forward(), reference(name + "y")) <= kReferenceTolerance<T>);
    const auto [dq, dk, dv] = op.backward();
    CHECK(distance(dq, reference(name + "gradient/q")) <= kReferenceTolerance<T>);
    CHECK(distance(dk, reference(name + "gradient/k")) <= kReferenceTolerance<T>);
    CHECK(distance(dv, reference(name + "gradient/v")) <= kReferenceTolerance<T>);
  }
}

TEST_CASE("attention: gradients overwrite or accumulate") {
  Cpu<double> device(2);
  for (const AttentionCase& shape : attention_cases()) {
    if (shape.spare > 0) continue;
    CAPTURE(shape.name);
    Attention<double> op(device, shape);
    op.forward();
    const auto [dq, dk, dv] = op.backward();
    const auto [more_dq, more_dk, more_dv] = op.backward(true, 2);
    CHECK(distance(more_dq, sum_of(dq, Numbers(dq.size(), 2))) <= 1e-12);
    CHECK(distance(more_dk, sum_of(dk, Numbers(dk.size(), 2))) <= 1e-12);
    CHECK(distance(more_dv, sum_of(dv, Numbers(dv.size(), 2))) <= 1e-12);
  }
}

TEST_CASE_TEMPLATE("attention: a query without keys gives 0 and has gradient 0", T, float, double) {
  const AttentionCase shape{"", {4, 2}, {2, 0}, 2, 3, true};  // queries 0 and 1 of the first sentence, both of the second
  Cpu<T> device(2);
  Attention<T> op(device, shape);
  const Numbers y = op.forward(), dq = op.backward().dq;
  for (const std::size_t row : {0U, 1U, 4U, 5U})
    for (std::size_t j = 0; j < 6; ++j) {
      CHECK(y[row * 6 + j] == 0);
      CHECK(dq[row * 6 + j] == 0);
    }
  CHECK(y[2 * 6] != 0);
}

TEST_CASE("attention: keys without queries have gradient 0") {
  const AttentionCase shape{"", {0, 1}, {3, 1}, 1, 2};
  Cpu<double> device(2);
  Attention<double> op(device, shape);
  op.forward();
  const auto [dq, dk, dv] = op.backward();
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(dk[i] == 0);
    CHECK(dv[i] == 0);
  }
}

TEST_CASE_TEMPLATE("attention: huge scores select the largest key and stay finite", T, float, double) {
  const AttentionCase shape{"", {3}, {4}, 1, 1};
  Cpu<T> device(1);
  Attention<T> op(device, shape);
  op.q.write({1e4, -1e4, 0});
  op.k.write({1, 3, -2, 2});
  op.v.write({10, 20, 30, 40});
  CHECK(distance(op.forward(), {20, 30, 25}) <= 1e-5);
  const auto [dq, dk, dv] = op.backward();
  CHECK(std::isfinite(dot(dq, dq) + dot(dk, dk) + dot(dv, dv)));
}

TEST_CASE("attention: a cached step equals the last query of the whole sentence") {
  Cpu<double> device(1);
  const AttentionCase whole{"", {6}, {6}, 2, 4, true}, step{"", {1}, {6}, 2, 4, true, 0, 2};
  Attention<double> all(device, whole), last(device, step);
  const Numbers q = all.q.read(), k = all.k.read(), v = all.v.read();
  const auto spare = [](Numbers rows) { return joined({rows, Numbers(16, 5)}); };
  last.q.write(Numbers(q.end() - 8, q.end()));
  last.k.write(spare(k));
  last.v.write(spare(v));
  const Numbers y = all.forward();
  CHECK(distance(last.forward(), Numbers(y.end() - 8, y.end())) <= 1e-14);
}

TEST_CASE("attention: a sentence does not depend on the others in the batch") {
  Cpu<double> device(2);
  const AttentionCase both{"", {4, 3}, {5, 3}, 2, 3}, alone{"", {4}, {5}, 2, 3};
  const Numbers batch = Attention<double>(device, both).forward(), single = Attention<double>(device, alone).forward();
  CHECK(same_bits(Numbers(batch.begin(), batch.begin() + 24), single));
}

TEST_CASE_TEMPLATE("attention: results do not depend on the number of threads", T, float, double) {
  for (const AttentionCase& shape : attention_cases()) {
    CAPTURE(shape.name);
    check_threads<T>([&](Cpu<T>& device) { return Attention<T>(device, shape).everything(); });
  }
}

TEST_CASE("attention: keys can be listed by row index and shared between sentences") {
  Cpu<double> device(1);
  const AttentionCase shape{"", {1, 1, 1, 1}, {2, 0, 1, 3}, 1, 1};
  Attention<double> op(device, shape);
  op.q.write({0, 5, 7, 0});  // 0: the mean of all values
  op.k.write({1, 2, 3, 4, 5, 6}), op.v.write({10, 20, 30, 40, 50, 60});
  const Integers<Cpu<double>> list(device, {4, 1, /**/ /**/ 5, /**/ 1, 1, 0});
  op.args.keys.row_indices = list.data();
  CHECK(distance(op.forward(), {35, 0, 60, 50. / 3}) <= 1e-14);
}

TEST_CASE_TEMPLATE("attention: listed keys give the same bits as gathered keys", T, float, double) {
  for (const std::int32_t width : {1, 7, 64, 128}) {
    const AttentionCase shape{"", {1, 1, 0, 1, 1, 1}, {5, 1, 3, 0, 70, 2}, 3, width, true, 0, 0, 2};
    Cpu<T> device(2);
    Attention<T> gathered(device, shape), listed(device, shape);
    std::vector<std::int32_t> list;
    Numbers k, v;
    const Numbers all_k = listed.k.read(), all_v = listed.v.read();
    for (std::int32_t i = 0; i < listed.keys.rows(); ++i) {
      list.push_back(static_cast<std::int32_t>(7 * i * i % listed.keys.rows()));  // some twice
      const auto row = [&](const Numbers& m) { return m.begin() + list.back() * 3 * width; };
      k.insert(k.end(), row(all_k), row(all_k) + 3 * width);
      v.insert(v.end(), row(all_v), row(all_v) + 3 * width);
    }
    gathered.k.write(k), gathered.v.write(v);
    const Integers<Cpu<T>> on_device(device, list);
    listed.args.keys.row_indices = on_device.data();
    CHECK(same_bits(listed.forward(), gathered.forward()));
    CHECK(same_bits(listed.lse.read(), gathered.lse.read()));
  }
}

TEST_CASE("attention: rejects listed keys where rows must be contiguous") {
  Cpu<double> device(1);
  const std::int32_t list[16] = {};
  const auto refused = [&](AttentionCase shape, auto&& call) {
    Attention<double> op(device, shape);
    op.forward();
    op.args.keys.row_indices = list;
    return contains(error_of([&] { call(op); }), "must be contiguous here, but are listed by index. Gather them first.");
  };
  const auto attend = [](auto& op) { attention(op.device, op.args); };
  CHECK(refused({"", {2}, {2}, 1, 1}, attend));
  CHECK(refused({"", {1}, {2}, 1, 1, false, 0.5f}, attend));
  CHECK(refused({"", {1}, {2}, 1, 129}, attend));
  CHECK(refused({"", {1}, {2}, 1, 1},
                [](auto& op) { op.args.queries.row_indices = op.args.keys.row_indices, attention(op.device, op.args); }));
  CHECK(refused({"", {1}, {2}, 1, 1}, [](auto& op) { op.backward(); }));
  CHECK(refused({"", {1}, {2}, 1, 1}, [](auto& op) { attention_weights(op.device, {op.args, {}}); }));
}
