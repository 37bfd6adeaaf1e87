// Attention whose values are of another width than its keys, and attention's weights.

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/ops/attention.hpp"
#include "support/attention_cases.hpp"
#include "support/gradients.hpp"

using attn::AttentionArgs;
using attn::Cpu;
using attn::Index;
using Device = Cpu<double>;

namespace {

/// The operands of a case, its values `wider` columns a head wider than its keys.
struct Operands {
  Layout<Device> queries, keys;
  Index value_width;
  Tensor<Device> q, k, v, dy, y, lse;
  AttentionArgs<Device> args;

  Operands(Device& on, const AttentionCase& of, Index wider)
      : queries(on, of.queries),
        keys(on, of.keys, of.spare),
        value_width((of.head_width + wider) * of.heads),
        q(on, queries.rows(), of.width(), random_numbers(queries.rows() * of.width(), 1), of.gap),
        k(on, keys.rows(), of.width(), random_numbers(keys.rows() * of.width(), 2), of.gap),
        v(on, keys.rows(), value_width, random_numbers(keys.rows() * value_width, 3), of.gap),
        dy(on, queries.rows(), value_width, random_numbers(queries.rows() * value_width, 4)),
        y(on, queries.rows(), value_width, kUnset, of.gap),
        lse(on, queries.rows(), of.heads),
        args{.q = q,
             .k = k,
             .v = v,
             .queries = queries,
             .keys = keys,
             .heads = of.heads,
             .scale = 0.7,
             .causal = of.causal,
             .dropout = {of.dropout, attn::key_of_seed(9)},
             .y = y,
             .lse = lse.data()} {}

  Index visible(Index s, Index i) const {
    const Index m = args.keys.length(s);
    return args.causal ? std::clamp<Index>(m - args.queries.length(s) + i + 1, 0, m) : m;
  }
};

}  // namespace

TEST_CASE("attention values: weights are the masked softmax of the scores and y is the weighted mean") {
  Device device(2);
  for (AttentionCase shape : attention_cases()) {
    CAPTURE(shape.name);
    shape.dropout = 0;
    Operands op(device, shape, 3);
    attention(device, op.args);
    const Index longest = op.args.keys.longest, rows = op.q.rows(), d = shape.head_width, e = d + 3;
    Tensor<Device> weights(device, shape.heads * rows, longest);
    attention_weights(device, {op.args, weights});
    CHECK(op.y.outside_untouched());
    const auto p = weights.view(), q = op.q.view(), k = op.k.view(), v = op.v.view(), y = op.y.view();
    double worst = 0;
    for (Index s = 0; s < op.args.queries.count; ++s)
      for (Index h = 0; h < shape.heads; ++h)
        for (Index i = 0; i < op.args.queries.length(s); ++i) {
          const Index row = op.args.queries.begin[s] + i, first = op.args.keys.begin[s], seen = op.visible(s, i);
          Numbers exact(static_cast<std::size_t>(longest));
          double sum = 0;
          for (Index j = 0; j < seen; ++j) {
            double score = 0;
            for (Index c = h * d; c < (h + 1) * d; ++c) score += q(row, c) * k(first + j, c);
            sum += exact[static_cast<std::size_t>(j)] = std::exp(0.7 * score);
          }
          for (Index j = 0; j < longest; ++j) {
            auto& weight = exact[static_cast<std::size_t>(j)];
            weight = sum > 0 ? weight / sum : 0;
            worst = std::max(worst, std::abs(p(h * rows + row, j) - weight));
          }
          for (Index c = h * e; c < (h + 1) * e; ++c) {
            double mean = 0;
            for (Index j = 0; j < seen; ++j) mean += exact[static_cast<std::size_t>(j)] * v(first + j, c);
            worst = std::max(worst, std::abs(y(row, c) - mean));
          }
        }
    CHECK(worst <= 1e-12);
  }
}

TEST_CASE("attention values: gradients for wider and narrower values match finite differences") {
  Device device(2);
  for (const AttentionCase& shape : attention_cases())
    for (const Index wider : {Index{3}, Index{-1}}) {
      if (shape.head_width + wider < 1) continue;
      CAPTURE(shape.name);
      CAPTURE(wider);
      Operands op(device, shape, wider);
      const auto loss = [&] {
        attention(device, op.args);
        return dot(op.dy.read(), op.y.read());
      };
      loss();
      const bool add = shape.spare > 0;  // spare rows stay as they are
      Tensor<Device> dq(device, op.q.rows(), op.q.cols(), 0.0), dk(device, op.k.rows(), op.k.cols(), 0.0),
          dv(device, op.v.rows(), op.v.cols(), 0.0);
      attention_gradient(device, {.forward = op.args, .dy = op.dy, .dq = {dq, add}, .dk = {dk, add}, .dv = {dv, add}});
      check_gradient("q", op.q, dq.read(), loss);
      check_gradient("k", op.k, dk.read(), loss);
      check_gradient("v", op.v, dv.read(), loss);
    }
}
